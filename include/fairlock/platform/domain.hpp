// SPDX-License-Identifier: Apache-2.0
// Domain: what locks share. A process has one domain, and each run of the checker makes a fresh one. All-zero memory is
// an empty domain.
//
//   field          holds                                         written by
//   lanes          how many blocks each lane has given out       a thread whose block is used up
//   counters       TWA: how often the slot was poked             releases (fetch_add)
//   notices        Hapax: the last hapax that departed here      releases (exchange)
//   visible        Hapax: the hapax that one waiter waits for    that waiter (0 -> hapax), its predecessor (hapax -> 0)
//   chains         the head of a waiting chain                   waiters and notifiers (waiting/chain.hpp)
//   leavers        how many leavers there are, or a few more     leavers, and releases that pass them over
//   reserved       entries of the table that waiters reserved    timed waiters
//   reach          the largest distance of an entry from home    leavers
//   leaver_table   the waiters that abandoned a line             leavers, and releases that pass them over
//                                                                (line/leavers.hpp)
//   queue_nodes    qspinlock: a thread's place in a queue        that thread, its predecessor, its successor
//   threads        the small thread numbers that are taken       a thread that takes a number or exits
//   serials        how many serial numbers threads have taken    a thread that takes one
//
// Different kinds of slot never share a word: if TWA incremented a slot that holds an old hapax, the result could be a
// false hand-over.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

// From which lane a thread takes a new block of hapaxes.
enum class Lane { first, random, cpu, node, previous };

struct DomainOptions {
  std::uint32_t slots = 4096;  // of each waiting array; a power of two
  bool slots_by_cpus = false;  // use only as many slots as the number of CPUs needs
  unsigned lanes = 1;          // sources of hapax blocks; a power of two, at most Domain::max_lanes
  Lane lane = Lane::first;
  unsigned block_bits = 16;  // a block holds 2^block_bits hapaxes
  unsigned leavers = 4096;   // leavers and timed waiters at once; further timed waiters wait outside the line
  unsigned threads = 4096;   // small numbers for threads; further threads have none
};

// A sensible size for a waiting array: a power of two from 256 to `most`. Collisions matter only between threads that
// run, and 64 slots for each CPU keep them rare. With fewer than 256, the multiplier 127 puts neighbours side by side.
constexpr std::uint32_t slots_for(unsigned cpus, std::uint32_t most) {
  std::uint32_t slots = 256;
  while (slots < most && slots < 64 * std::uint64_t{cpus}) slots *= 2;
  return slots < most ? slots : most;
}

template <class Memory>
struct Domain {
  using Word = typename Memory::template atomic<std::uint64_t>;

  static constexpr unsigned max_lanes = Memory::max_lanes;

  struct alignas(Memory::sector) LaneHead {
    Word blocks;
    template <class V>
    void fields(V&& visit) const {
      visit("blocks", blocks);
    }
  };

  // An element of qspinlock's queue. A thread waits for one lock at a time, so it needs only one.
  struct alignas(Memory::sector) QueueNode {
    typename Memory::template atomic<std::uint32_t> next;  // 1 + the thread number of the successor, or 0
    typename Memory::template atomic<std::uint32_t> head;  // 1: the thread is at the head of the queue
    template <class V>
    void fields(V&& visit) const {
      visit("next", next);
      visit("head", head);
    }
  };

  struct LeaverEntry {
    Word state, key, value, serial;
  };

  LaneHead lanes[max_lanes];
  alignas(Memory::page) Word counters[Memory::max_slots];
  alignas(Memory::page) Word notices[Memory::max_slots];
  alignas(Memory::page) Word visible[Memory::max_slots];
  alignas(Memory::page) typename Memory::template atomic<void*> chains[Memory::max_slots];
  alignas(Memory::sector) Word leavers;
  alignas(Memory::sector) Word reserved;
  alignas(Memory::sector) typename Memory::template atomic<std::uint32_t> reach;
  LeaverEntry leaver_table[Memory::max_leavers];
  QueueNode queue_nodes[Memory::max_threads];
  Word threads[(Memory::max_threads + 63) / 64];
  Word serials;

  template <class V>
  void fields(V&& visit) const {
    for (unsigned i = 0; i < max_lanes; ++i) visit("lane", i, lanes[i].blocks);
    for (std::uint32_t i = 0; i < Memory::max_slots; ++i) {
      visit("counter", i, counters[i]);
      visit("notice", i, notices[i]);
      visit("visible", i, visible[i]);
      visit("chain", i, chains[i]);
    }
    visit("leavers", leavers);
    visit("reserved", reserved);
    visit("reach", reach);
    for (unsigned i = 0; i < Memory::max_leavers; ++i) {
      visit("left.state", i, leaver_table[i].state);
      visit("left.key", i, leaver_table[i].key);
      visit("left.value", i, leaver_table[i].value);
      visit("left.serial", i, leaver_table[i].serial);
    }
    for (unsigned i = 0; i < Memory::max_threads; ++i) {
      visit("queue.next", i, queue_nodes[i].next);
      visit("queue.head", i, queue_nodes[i].head);
    }
  }
};

}  // namespace v0
}  // namespace fairlock
