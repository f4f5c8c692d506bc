// SPDX-License-Identifier: Apache-2.0
// Waiting chains: a slot of the domain heads a concurrent pop-stack of waiters, each watching (or sleeping on) a gate
// of its own. Push one, detach all. (Dice, Kogan 2025; Listing 3 of the semaphore paper.)
//
//   field           holds                                                    written by
//   chain(key)      null, the newest element, or the mark of a notifier      waiters (push, undo), notifiers (detach)
//   element.gate    0 waits, `asleep` waits in the kernel, `woken` is off    its owner (0, asleep), whoever wakes it (woken)
//   element.below   what the chain showed when it was pushed                 its owner, once, right after the push
//
// A key stands for what the waiter waits for (a lock and a ticket, or the address of a word); keys that fall on the
// same chain cost a needless wake-up at most. An element lives on its owner's stack and is the owner's own again once
// the gate says woken, or the push was undone. To wake the first of a detached chain is to wake them all: each wakes
// the one below.
//
// A notifier that finds one waiter alone looks at its condition first, and if that does not hold puts it back and saves
// it the wake-up (two keys fell on one chain). Meanwhile its mark stands in the slot: a signal that comes in between
// removes the mark, and then the waiter cannot be put back unseen.
#pragma once

#include <cstdint>
#include <type_traits>

#include <fairlock/platform/domain.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

enum Gate : std::uint32_t { gate_shut = 0, gate_woken = 1, gate_asleep = 2 };

template <Platform P>
class Chains {
 public:
  // Waits until satisfied(); false if `until` came first. A thread that makes the condition true must then signal the
  // same key. A thread keeps a history of its spins for each `lock`.
  template <class C, Until U>
  [[gnu::noinline]] static bool wait_until(const void* lock, Key key, const C& satisfied, const U& until) {
    if constexpr (P::looks != 0)
      if (P::satisfied_soon(lock, satisfied, until)) return true;
    auto& head = chain(key);
    while (!satisfied()) {
      typename P::template scoped<Element> mine;
      mine->gate.init(gate_shut);
      mine->below.init(unlinked());
      mine->test = [](const void* condition) -> bool { return (*static_cast<const C*>(condition))(); };
      mine->condition = &satisfied;
      mine->unpark = P::sleeps ? &P::unpark : nullptr;
      void* const below = head.exchange(&*mine, order::acq_rel);
      mine->below.store(below, order::release);
      // We are on the chain and look at the condition; they make it true and look at the chain. One sees the other.
      P::fence_after_rmw();
      const bool enough = satisfied();
      if (enough || !P::watch(mine->gate, until)) {
        withdraw(head, *mine, below);
        return enough || satisfied();
      }
      wake(below);  // before anything else: they were detached together with us
    }
    return true;
  }

  // After the write that may make a condition true, and a seq_cst fence. Polite: an empty chain is only looked at.
  static void signal(Key key) {
    auto& head = chain(key);
    if (head.load(order::relaxed) != nullptr) [[unlikely]]
      notify(head);
  }

 private:
  struct alignas(P::sector) Element {
    typename P::template atomic<std::uint32_t> gate;
    typename P::template atomic<void*> below;
    bool (*test)(const void*);
    const void* condition;
    void (*unpark)(const void*);  // how its owner sleeps; null: it never does
    template <class V>
    void fields(V&& visit) const {
      visit("gate", gate);
      visit("below", below);
    }
  };
  struct Mark {
    std::uint64_t unused;
  };

  using Head = std::remove_reference_t<decltype(P::domain().chains[0])>;

  static Head& chain(Key key) { return P::domain().chains[key & (P::slots() - 1)]; }

  // Marks are odd; so is the word that says "not linked yet".
  static bool is_element(void* top) { return top != nullptr && (reinterpret_cast<std::uintptr_t>(top) & 1) == 0; }
  static void* unlinked() { return reinterpret_cast<void*>(std::uintptr_t{1}); }
  static void* own_mark() { return reinterpret_cast<char*>(&P::template local<Mark>()) + 1; }

  static void wake(void* top) {
    if (!is_element(top)) return;
    auto& gate = static_cast<Element*>(top)->gate;
    const auto unpark = static_cast<Element*>(top)->unpark;
    // The element may be gone as soon as its gate says woken. Its address may be woken all the same.
    if (gate.exchange(gate_woken, order::acq_rel) == gate_asleep) unpark(&gate);
  }

  // Gets an element off the chain whose owner does not want to wait any longer.
  static void withdraw(Head& head, Element& mine, void* below) {
    // Undo the push. Only its owner pushes an element: if it is still on top, what lies below has not changed. But a
    // mark must not come back: signals have passed since, and its notifier would believe that there were none.
    void* found = &mine;
    if (head.compare_exchange(found, is_element(below) ? below : nullptr, order::acq_rel)) return;
    if (found == nullptr || mine.gate.load(order::acquire) == gate_woken) {
      wake(below);
    } else {
      // Covered by others, or in the hands of a notifier that may still put it back: flush. First detach, then wake, or
      // those woken might push themselves again on what we detach; and the older ones first.
      void* const above = head.exchange(nullptr, order::acq_rel);
      wake(below);
      wake(above);
    }
    P::watch(mine.gate, Forever{});
  }

  [[gnu::noinline]] static void notify(Head& head) {
    void* const top = head.exchange(own_mark(), order::acq_rel);
    if (is_element(top) && waits_in_vain(*static_cast<Element*>(top)) && head.cas(own_mark(), top, order::acq_rel))
      return;
    // In vain if others came: the mark then lies below them, and is nobody.
    head.cas(own_mark(), nullptr, order::relaxed);
    wake(top);
  }

  // Whether to wake this chain would be for nothing: it has one element, whose condition does not hold. With more,
  // those below may be gone while we look: the one above them wakes them when it withdraws.
  static bool waits_in_vain(const Element& top) {
    void* const below = top.below.load(order::acquire);
    return below != unlinked() && !is_element(below) && !top.test(top.condition);
  }
};

}  // namespace v0
}  // namespace fairlock
