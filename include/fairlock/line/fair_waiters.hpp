// SPDX-License-Identifier: Apache-2.0
// FairWaiters: the waiters of a FairLine (line/fair.hpp), and how a thread edits their line and wakes them.
//
//   field            holds                                                     written by
//   word_            the permits and the state of the line                     see line/fair_word.hpp
//   head_            the first element of the line, or null                    the thread that edits the line
//     single         bit 0: start_with(1) was called                           the thread that calls it
//   element.gate     shut, asleep or woken (waiting/chain.hpp)                 its owner; the thread that wakes it
//   element.next,    the line is a ring, in which the last element stands      the thread that edits the line
//     before         before the head
//
// A release that finds no permits and must wake a waiter owes that wake-up. The word shows the debt (FairWord::owed).
// As long as it does, no thread takes a permit or edits the line, so the lock cannot be destroyed meanwhile, and a
// release that owes nothing is one RMW. If another thread is editing the line, that thread wakes the waiter: a release
// never waits.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/line/fair_word.hpp>
#include <fairlock/line/ring.hpp>
#include <fairlock/until.hpp>
#include <fairlock/waiting/chain.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P, FairLineOptions O>
class FairWaiters {
 public:
  template <class V>
  void fields(V&& visit) const {
    visit("word", word_);
    visit("head", head_);
  }

 protected:
  using Word = FairWord<P, O>;
  using Bits = typename Word::Bits;

  struct Element {
    typename P::template atomic<std::uint32_t> gate;
    typename P::template plain<Element*> next, before;
    template <class V>
    void fields(V&& visit) const {
      visit("gate", gate);
      visit("next", next);
      visit("before", before);
    }
  };

  static constexpr std::uintptr_t single = 1;

  Element* head() const { return reinterpret_cast<Element*>(head_.load(order::relaxed) & ~single); }
  void set_head(Element* first) {
    const auto kept = head_.load(order::relaxed) & single;
    head_.store(reinterpret_cast<std::uintptr_t>(first) | kept, order::relaxed);
  }

  Bits begin_editing() {
    Bits now = word_.load(order::relaxed);
    for (;;) {
      if (!Word::editable(now)) now = *await(&Word::editable, Forever{});
      else if (word_.compare_exchange(now, now | Word::editing, order::acquire)) return now | Word::editing;
    }
  }

  // End the editing, or perform the wake-up that a release owes: wake a waiter if there is a permit, and wake the
  // thread that sleeps on word_. `new_head`: no newcomer has passed the head yet.
  [[gnu::noinline]] void done_editing(Bits now, bool new_head = false) {
    Element* const first = head();
    const Bits off = new_head ? Word::every_bypass | Word::every_tick : 0, begun = new_head ? Word::clock() : 0;
    const void* woken = nullptr;
    bool sleeps = false;
    Bits next;
    do {
      next = (now & ~(Word::editing | Word::asleep | Word::poked | Word::more | off)) | begun;
      if (first == nullptr) {
        next &= ~(Word::waiting | Word::saturation | Word::every_bypass | Word::every_tick);
      } else {
        Element* waiter = next_to_wake(first, now);
        if (waiter != nullptr && woken == nullptr && Word::permits(now) > 0) {
          // Open the gate now: the waiter may be gone as soon as the line may change. Unparking its address does no
          // harm.
          woken = &waiter->gate;
          sleeps = waiter->gate.exchange(gate_woken, order::acq_rel) == gate_asleep;
          waiter = next_to_wake(first, now);
        }
        if (waiter == nullptr) next |= Word::poked;
        else if (woken != nullptr) next |= Word::poked | Word::more;  // one waiter at a time
      }
    } while (!word_.compare_exchange(now, next, order::acq_rel));
    if (sleeps) P::unpark(woken);
    if ((now & Word::asleep) != 0) P::unpark(&word_);
  }

  // Wait until the word satisfies the condition. A thread sets `asleep` before it sleeps on the word, and only while
  // the condition does not hold.
  template <class C, Until U>
  std::optional<Bits> await(const C& condition, const U& until) {
    if constexpr (!P::sleeps) {
      return P::await_until(word_, condition, until, order::relaxed);
    } else {
      if constexpr (P::short_spin != 0)
        if (const auto now = P::await_briefly(word_, condition, P::short_spin, order::relaxed)) return now;
      for (Bits now = word_.load(order::relaxed);;) {
        if (condition(now)) return now;
        if ((now & Word::asleep) == 0) {
          if (!word_.compare_exchange(now, now | Word::asleep, order::relaxed)) continue;
          now |= Word::asleep;
        }
        const bool in_time = P::park(word_, now, until);
        now = word_.load(order::relaxed);
        if (!in_time) return condition(now) ? std::optional(now) : std::nullopt;
      }
    }
  }

  typename P::template atomic<Bits> word_;
  typename P::template atomic<std::uintptr_t> head_;

 private:
  // Null: enough waiters are awake.
  static Element* next_to_wake(Element* first, Bits now) {
    Element* element = first;
    for (unsigned left = Word::saturated(now) ? 1 : O.awake; left != 0; --left) {
      if (element->gate.load(order::relaxed) != gate_woken) return element;
      element = element->next;
      if (element == first) break;
    }
    return nullptr;
  }
};

}  // namespace v0
}  // namespace fairlock
