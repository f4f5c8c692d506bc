// SPDX-License-Identifier: Apache-2.0
// Interrupt: how one thread ends the wait of another.
//
//   field     holds                                                         written by
//   raised_   1 from raise() to lower()                                     the callers of these two
//   gate_     the word on which the waiter sleeps or is about to, or null   the waiter
//   unpark_   how to wake the waiter, whose lock may have another policy    the waiter, before gate_
//
// One wait at a time may use an Interrupt. The Interrupt must live until raise() has returned.
#pragma once

#include <cstdint>

#include <fairlock/platform/platform.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class Interrupt : public WaitObserver {
 public:
  void raise() {
    raised_.exchange(1, order::acq_rel);
    P::fence_after_rmw();
    // Either we see the word on which the waiter is about to sleep, or the waiter sees that we raised (Dekker). We do
    // not change that word, so a waiter that is between its look and its sleep misses the wake-up. So we repeat the
    // wake-up until the waiter is awake. The word may be gone by then: waking a stale address does no harm.
    while (void* const gate = gate_.load(order::acquire)) {
      reinterpret_cast<Unpark>(unpark_.load(order::relaxed))(gate);
      P::pause(64);
    }
  }
  void lower() { raised_.store(0, order::relaxed); }
  bool raised() const { return raised_.load(order::acquire) != 0; }

  void before_park(const void* gate, Unpark unpark) {
    unpark_.store(reinterpret_cast<std::uintptr_t>(unpark), order::relaxed);
    set_gate(const_cast<void*>(gate));
  }
  void after_park() { set_gate(nullptr); }

  template <class V>
  void fields(V&& visit) const {
    visit("raised", raised_);
    visit("sleeper", gate_);
    visit("unpark", unpark_);
  }

 private:
  void set_gate(void* gate) {
    gate_.exchange(gate, order::acq_rel);
    P::fence_after_rmw();
  }

  typename P::template atomic<std::uint32_t> raised_;
  typename P::template atomic<void*> gate_;
  typename P::template atomic<std::uint64_t> unpark_;
};

// An Until that also ends when its Interrupt is raised.
template <Platform P>
struct Interruptible {
  Interrupt<P>& interrupt;
  std::uint64_t at = never;
  std::uint64_t deadline() const { return at; }
  bool interrupted() const { return interrupt.raised(); }
  Interrupt<P>& observer() const { return interrupt; }
};

}  // namespace v0
}  // namespace fairlock
