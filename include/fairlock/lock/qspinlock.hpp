// SPDX-License-Identifier: Apache-2.0
// qspinlock: Linux's 32-bit lock, adapted to user space. The first waiter sets a pending bit and watches the locked
// byte. The others queue as in MCS, but the tail is a small thread number instead of a pointer.
//
//   bits of word_   meaning                                     written by
//   0-7             1: held                                     a thread that enters (1), the owner (0)
//   8               the first waiter is outside the queue       that waiter
//   16-31           1 + the thread number of the queue's tail   each arrival at the queue; its head, when it is alone
//
// Differences from the kernel: nodes belong to threads instead of CPUs. They do not nest, because a thread waits for
// one lock at a time. All changes are made to the whole word. A thread without a number (there are only 4096) does what
// the kernel does when its nodes run out: it tries until the whole word is free.
#pragma once

#include <fairlock/episode.hpp>
#include <fairlock/platform/domain.hpp>

namespace fairlock {
inline namespace v0 {

struct QspinOptions {
  bool enough_numbers = true;  // false: a thread may have no number, and then there is no order of admission
};

template <Platform P, QspinOptions O = QspinOptions{}>
class QspinLock {
 public:
  using Episode = NoContext;

  static constexpr Properties properties{
      .name = "qspinlock",
      .source = "Linux 4.2: Long, Zijlstra 2015",
      .spinning = "U+P",
      .order = O.enough_numbers ? Order::fifo : Order::barging,
      .numbers_threads = true,
      .parkable = false,  // several threads set and clear the pending bit, and none would wake a sleeper
      .space = "S*L + E*T",
  };

  Episode acquire() {
    static_assert(!P::sleeps, "no thread would wake a waiter of this lock: choose a policy that does not sleep");
    std::uint32_t seen = 0;
    if (word_.compare_exchange(seen, locked_bit, order::acquire)) return {};
    // The pending waiter is about to enter. Wait a moment for its place rather than start a queue.
    if (seen == pending_bit)
      seen = P::await_briefly(
                 word_, [](auto now) { return now != pending_bit; }, pending_looks, order::relaxed)
                 .value_or(seen);
    if (seen <= locked_mask) {  // held, without waiters: try to become the pending waiter
      seen = word_.fetch_or(pending_bit, order::acquire);
      if (seen <= locked_mask) {
        P::await(word_, [](auto now) { return (now & locked_mask) == 0; }, order::acquire);
        word_.fetch_add(locked_bit - pending_bit, order::relaxed);
        return {};
      }
      // Too late. If we have set the pending bit, it now stands before a queue, so clear it again.
      if ((seen & pending_bit) == 0) word_.fetch_and(~pending_bit, order::relaxed);
    }
    queue();
    return {};
  }

  std::optional<Episode> try_acquire() {
    if (word_.load(order::relaxed) != 0 || !word_.cas(0, locked_bit, order::acquire)) return std::nullopt;
    return Episode{};
  }

  void release(Episode) { word_.fetch_and(~locked_mask, order::release); }

  bool locked() const { return (word_.load(order::relaxed) & locked_mask) != 0; }

  template <class V>
  void fields(V&& visit) const {
    visit("word", word_);
  }

 private:
  static constexpr std::uint32_t locked_bit = 1, locked_mask = 0xff, pending_bit = 0x100, tail_shift = 16;
  static_assert(P::max_threads < 0xffff, "a thread number must fit the tail's 16 bits");
  static constexpr std::uint32_t low_mask = (1u << tail_shift) - 1;

  static constexpr unsigned pending_looks = 32;  // Linux: _Q_PENDING_LOOPS

  void queue() {
    const unsigned self = P::self();
    if (self >= P::max_threads) {
      do P::await(word_, [](auto now) { return now == 0; }, order::relaxed);
      while (!word_.cas(0, locked_bit, order::acquire));
      return;
    }
    auto& own_node = P::domain().queue_nodes[self];
    own_node.next.init(0);
    own_node.head.init(0);
    const std::uint32_t own_tail = (self + 1) << tail_shift;

    auto seen = word_.load(order::relaxed);
    while (!word_.compare_exchange(seen, (seen & low_mask) | own_tail, order::acq_rel)) {}
    if (const auto before = seen >> tail_shift) {
      P::domain().queue_nodes[before - 1].next.store(self + 1, order::release);
      P::await(own_node.head, [](auto head) { return head != 0; }, order::acquire);
    }

    // At the head of the queue: the lock is ours as soon as neither an owner nor a pending waiter is left.
    for (;;) {
      seen = P::await(word_, [](auto now) { return (now & low_mask) == 0; }, order::acquire);
      if (seen != own_tail) break;                                  // a thread has queued behind us
      if (word_.cas(own_tail, locked_bit, order::acquire)) return;  // no thread has queued
      // Otherwise there was a pending bit that the thread that set it will clear again. That thread may have no number,
      // and so may never join the queue.
    }
    word_.fetch_or(locked_bit, order::relaxed);
    const auto next = P::await(own_node.next, [](auto n) { return n != 0; }, order::acquire);
    P::domain().queue_nodes[next - 1].head.store(1, order::release);
  }

  typename P::template atomic<std::uint32_t> word_;
};

}  // namespace v0
}  // namespace fairlock
