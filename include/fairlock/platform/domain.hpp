// SPDX-License-Identifier: Apache-2.0
// Domain: the place of what locks share. A process has one; a shared-memory segment will be one; each run of the
// checker makes a fresh one. All-zero memory is an empty domain.
//
//   field         holds                                       written by
//   lanes_        how many blocks each lane has given out     a thread whose block is used up
//   counters      TWA: how often the slot was poked           releases (fetch_add)
//   notices       Hapax: the last hapax that departed here    releases (exchange)
//   visible       Hapax: the hapax that one waiter waits for  that waiter (0 -> hapax), its predecessor (hapax -> 0)
//   chains        the head of a waiting chain                 waiters and those who wake them (waiting/chain.hpp)
//   queue_nodes   qspinlock: a thread's place in a queue      that thread, its predecessor, its successor
//   left          who abandoned a line that goes on           those who leave, and those who pass them over (line/leavers.hpp)
//   threads       which small thread numbers are taken        thread start and exit
//   serials       how many serial numbers threads have        a thread that needs one
//
// The kinds of slot never share a word: a TWA increment of a stale hapax would be a false hand-over.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

// How a thread that needs a new block of hapaxes picks the lane to take it from.
enum class Lane { first, random, cpu, node, previous };

struct DomainOptions {
  std::uint32_t slots = 4096;  // of each waiting array; a power of two
  bool slots_by_cpus = false;  // use only as many of them as the number of CPUs asks for
  unsigned lanes = 1;          // sources of hapax blocks; a power of two, at most Domain::max_lanes
  Lane lane = Lane::first;
  unsigned block_bits = 16;  // a block holds 2^block_bits hapaxes
  unsigned left = 4096;      // how many may have left a line, or wait with a timeout, at once; more wait at the door
  unsigned threads = 4096;   // small numbers for threads; when they are used up, a thread goes without
};

// The sensible size of a waiting array: collisions matter only between threads that run, and 64 slots for each CPU
// keep them rare. A power of two within [256, most]: with fewer, the multiplier 127 puts neighbours side by side.
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

  // An element of qspinlock's queue. A thread waits for one lock at a time, so one for each thread will do.
  struct alignas(Memory::sector) QueueNode {
    typename Memory::template atomic<std::uint32_t> next;  // 1 + the thread number of the successor, or 0
    typename Memory::template atomic<std::uint32_t> head;  // 1: you are at the head of the queue
    template <class V>
    void fields(V&& visit) const {
      visit("next", next);
      visit("head", head);
    }
  };

  struct LeftEntry {
    Word state, key, value, serial;
  };
  static constexpr unsigned left_size = Memory::left_size;

  LaneHead lanes[max_lanes];
  alignas(Memory::page) Word counters[Memory::max_slots];
  alignas(Memory::page) Word notices[Memory::max_slots];
  alignas(Memory::page) Word visible[Memory::max_slots];
  alignas(Memory::page) typename Memory::template atomic<void*> chains[Memory::max_slots];
  alignas(Memory::sector) Word leavers;
  alignas(Memory::sector) Word reserved;
  alignas(Memory::sector) typename Memory::template atomic<std::uint32_t> reach;
  LeftEntry left[left_size];
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
    for (unsigned i = 0; i < left_size; ++i) {
      visit("left.state", i, left[i].state);
      visit("left.key", i, left[i].key);
      visit("left.value", i, left[i].value);
      visit("left.serial", i, left[i].serial);
    }
    for (unsigned i = 0; i < Memory::max_threads; ++i) {
      visit("queue.next", i, queue_nodes[i].next);
      visit("queue.head", i, queue_nodes[i].head);
    }
  }
};

}  // namespace v0
}  // namespace fairlock
