// SPDX-License-Identifier: Apache-2.0
// Waiting chains: a slot of the domain heads a concurrent stack of waiters. A waiter pushes one element, and a notifier
// detaches them all. Each waiter watches its own gate, or sleeps on it. (Dice, Kogan 2025; Listing 3 of the semaphore
// paper.)
//
//   field           holds                                                 written by
//   chain(key)      null, the newest element, or the mark of a notifier   waiters (push, undo), notifiers (detach)
//   element.gate    shut: its owner waits; asleep: its owner sleeps in    its owner (shut, asleep), the thread that
//                   the kernel; woken: the element is off the chain       wakes the owner (woken)
//   element.below   what the chain held before the push                   its owner, once, right after the push
//
// A key stands for what a waiter waits for: a lock and a ticket, or the address of a word. If two keys fall on the same
// chain, the worst result is a needless wake-up. An element lives on its owner's stack. It belongs to its owner again
// once the gate says woken, or once the owner has undone the push. Waking the first waiter of a detached chain wakes
// them all, because each waiter wakes the one below.
//
// A notifier that finds a single waiter evaluates the waiter's condition. If the condition does not hold (two keys fell
// on one chain), the notifier puts the waiter back and saves it the wake-up. Meanwhile the notifier's mark stands in
// the slot. A signal that comes in between removes the mark, and then the notifier cannot put the waiter back.
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
  // Wait until satisfied(). False: `until` came first. A thread that makes the condition true must then signal the same
  // key. Each thread keeps a history of its spins for each `lock`.
  template <class C, Until U>
  [[gnu::noinline]] static bool wait_until(const void* lock, Key key, const C& satisfied, const U& until) {
    if (P::satisfied_soon(lock, satisfied, until)) return true;
    auto& head = chain(key);
    while (!satisfied()) {
      typename P::template scoped<Element> own_element;
      own_element->gate.init(gate_shut);
      own_element->below.init(unlinked());
      own_element->test = [](const void* condition) -> bool { return (*static_cast<const C*>(condition))(); };
      own_element->condition = &satisfied;
      own_element->unpark = P::sleeps ? &P::unpark : nullptr;
      void* const below = head.exchange(&*own_element, order::acq_rel);
      own_element->below.store(below, order::release);
      // We push our element and then evaluate the condition. A notifier makes the condition true and then looks at the
      // chain. One of the two sees the other.
      P::fence_after_rmw();
      const bool enough = satisfied();
      if (enough || !P::watch(own_element->gate, until)) {
        withdraw(head, *own_element, below);
        return enough || satisfied();
      }
      wake(below);  // before anything else: the notifier detached those elements together with ours
    }
    return true;
  }

  // Call it after the write that may make a condition true, and a seq_cst fence. Writes nothing if the chain is empty.
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
    void (*unpark)(const void*);  // how to wake its owner; null: the owner never sleeps
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

  // Marks are odd. So is the value that says "not linked yet".
  static bool is_element(void* top) { return top != nullptr && (reinterpret_cast<std::uintptr_t>(top) & 1) == 0; }
  static void* unlinked() { return reinterpret_cast<void*>(std::uintptr_t{1}); }
  static void* own_mark() { return reinterpret_cast<char*>(&P::template local<Mark>()) + 1; }

  static void wake(void* top) {
    if (!is_element(top)) return;
    auto& gate = static_cast<Element*>(top)->gate;
    const auto unpark = static_cast<Element*>(top)->unpark;
    // The element may be gone as soon as its gate says woken. Waking its address does no harm.
    if (gate.exchange(gate_woken, order::acq_rel) == gate_asleep) unpark(&gate);
  }

  // Take the element of a waiter that stops waiting off the chain.
  static void withdraw(Head& head, Element& own_element, void* below) {
    // Undo the push. Only its owner pushes an element, so if it is still on top, nothing below it has changed. But we
    // must not restore a mark: signals have passed since, and the notifier would believe that there were none.
    void* top = &own_element;
    if (head.compare_exchange(top, is_element(below) ? below : nullptr, order::acq_rel)) return;
    if (top == nullptr || own_element.gate.load(order::acquire) == gate_woken) {
      wake(below);
    } else {
      // Other elements lie above ours, or a notifier has detached it and may still put it back. So we wake the whole
      // chain. We detach it first: otherwise a woken waiter could push itself again onto what we detach. We wake the
      // older waiters first.
      void* const above = head.exchange(nullptr, order::acq_rel);
      wake(below);
      wake(above);
    }
    P::watch(own_element.gate, Forever{});
  }

  [[gnu::noinline]] static void notify(Head& head) {
    void* const top = head.exchange(own_mark(), order::acq_rel);
    if (is_element(top) && waits_in_vain(*static_cast<Element*>(top)) && head.cas(own_mark(), top, order::acq_rel))
      return;
    // This fails if waiters have come since. The mark then lies below them, and they take it for no element.
    head.cas(own_mark(), nullptr, order::relaxed);
    wake(top);
  }

  // Whether the chain has a single element, whose condition does not hold. With more elements we cannot look: the lower
  // ones may be gone, because a waiter that withdraws wakes the waiters below it.
  static bool waits_in_vain(const Element& top) {
    void* const below = top.below.load(order::acquire);
    return below != unlinked() && !is_element(below) && !top.test(top.condition);
  }
};

}  // namespace v0
}  // namespace fairlock
