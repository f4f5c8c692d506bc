// SPDX-License-Identifier: Apache-2.0
// FairLine: permits that newcomers may take, and a FIFO line of threads that sleep until they get one. The fair lock
// and the fair semaphore share it.
//
// The fields are in line/fair_waiters.hpp and line/fair_word.hpp.
//
// A lock is saturated when the running threads alone would keep it busy. Threads then take turns. A release wakes only
// the head. Running newcomers keep the lock busy until the head is up, and then for the rest of their quota, so all
// turns are equally long. Then the line is closed to newcomers, and the head enters. Newcomers look at the clock now
// and then and close the line themselves, because the head may be waiting for the processor that they occupy.
//
// A lock that is not saturated is free much of the time. Its line forms because an owner lost its processor, and must
// not outlast that delay. Each release wakes one more waiter, until `awake` of them are up, so that every processor has
// a thread to run. A woken waiter takes a permit as soon as it finds one, even if it is not the head. A waiter that
// finds none, and is not the head, goes back to sleep in its old place.
//
// Closing that line would idle processors: the head is late because it waits for one. Instead, the line is closed to
// one newcomer, which gives up its processor and goes to the tail of the line.
//
// The head can tell whether the lock is saturated because it runs beside the threads that use it (survey). One
// observation of saturation is enough. Three contrary observations in a row withdraw it. A head that sees too few
// acquisitions to tell confirms the earlier answer. A wrong guess costs time, never correctness.
//
// Once the head is awake, newcomers pass it for at most `patience`, saturated or not. Then the head closes the line.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/line/fair_waiters.hpp>
#include <fairlock/properties.hpp>

namespace fairlock {
inline namespace v0 {

// What the catalogue says about the fair lock and the fair semaphore.
constexpr Properties fair_properties(const char* name, unsigned quota, bool adapts) {
  return {
      .name = name,
      .source = "fairlock; after the hand-over of nsync and parking_lot",
      .spinning = "L+P",
      .order = adapts ? Order::while_saturated : Order::at_head,
      .bypass = static_cast<int>(quota),
      .on_stack = true,
      .space = "S*L + E*A",
  };
}

template <Platform P, FairLineOptions O>
class FairLine : FairWaiters<P, O> {
  using Waiters = FairWaiters<P, O>;
  using typename Waiters::Bits, typename Waiters::Element, typename Waiters::Word;
  using Waiters::head, Waiters::set_head, Waiters::await, Waiters::begin_editing, Waiters::done_editing;
  using Waiters::head_, Waiters::word_, Waiters::single;

 public:
  using Waiters::fields;

  // The most permits that the line can hold at once.
  static constexpr std::uint64_t max() { return std::uint64_t{1} << 35; }

  std::int64_t permits() const { return Word::permits(word_.load(order::relaxed)); }
  void start_with(std::uint64_t permits) {
    word_.init(permits * Word::one_permit);
    if (permits == 1) head_.init(single);
  }

  bool try_take() {
    // A load of word_ would wait for this thread's own last release. With a single permit, the value of the word is
    // known while the permit is free and no thread waits. head_, which no release writes, shows whether a thread waits.
    constexpr std::uintptr_t no_waiter = O.initial == 1 ? 0 : single;
    Bits now = (1 - O.initial) * Word::one_permit;
    if (O.initial > 1 || head_.load(order::relaxed) != no_waiter) now = word_.load(order::relaxed);
    else if (word_.compare_exchange(now, now - Word::one_permit, order::acquire)) [[likely]] return true;
    while (Word::open(now))
      if (word_.compare_exchange(now, Word::after_take(now), order::acquire)) return true;
    return false;
  }

  // Call it after try_take() has failed.
  template <Until U>
  [[gnu::noinline]] bool take_until(const U& until) {
    if (P::over(until)) return false;
    typename P::template scoped<Element> own_element;
    own_element->gate.init(gate_shut);
    if (take_soon() || take_or_arrive(*own_element)) return true;
    while (P::watch(own_element->gate, until)) {
      if (head() == &*own_element) {
        if (take_as_head(*own_element, until)) return true;
        break;
      }
      if (take_out_of_turn(*own_element, until)) return true;
      sleep_again(*own_element);
    }
    leave(*own_element);
    return false;
  }

  void give(std::uint64_t count) {
    const Bits before = word_.fetch_add(count * Word::one_permit, order::acq_rel);
    if (Word::permits(before) > static_cast<std::int64_t>(max())) [[unlikely]]
      P::stop("fair", "released past max()");
    if ((before & (Word::waiting | Word::asleep)) != 0 && Word::permits(before) <= 0 &&
        Word::owed(before + count * Word::one_permit)) [[unlikely]]
      done_editing(before + count * Word::one_permit);
  }

 private:
  // A newcomer watches the word for a moment, unless threads take turns or it has to give way.
  bool take_soon() {
    if constexpr (P::short_spin != 0) {
      const auto decided = [](Bits now) {
        return Word::open(now) || Word::closed(now) || ((now & Word::waiting) != 0 && Word::saturated(now));
      };
      for (;;) {
        auto now = P::await_briefly(word_, decided, P::short_spin, order::relaxed);
        if (!now || !Word::open(*now)) return false;
        if (word_.compare_exchange(*now, Word::after_take(*now), order::acquire)) return true;
      }
    }
    return false;
  }

  // True: there was a permit after all.
  bool take_or_arrive(Element& own_element) {
    Bits now = word_.load(order::relaxed);
    Bits next;
    for (;;) {
      if (Word::open(now)) {
        if (word_.compare_exchange(now, Word::after_take(now), order::acquire)) return true;
      } else if (!Word::editable(now)) {
        now = *await(&Word::editable, Forever{});
      } else {
        next = Word::after_arrival(now);
        if (word_.compare_exchange(now, next, order::acquire)) break;
      }
    }
    Element* const first = head();
    set_head(Ring<Element>::append(first, own_element));
    done_editing(next, first == nullptr);
    return false;
  }

  template <Until U>
  bool take_as_head(Element& own_element, const U& until) {
    const auto patience = P::within(until, O.patience);
    judge();
    Bits borrowed = 0;  // saturation that the head set to close the line, without having observed it
    for (bool patient = true;;) {
      const auto now = patient ? await(&Word::available, patience) : await(&Word::available, until);
      if (now && !(patient && P::over(patience))) {
        if (patient && Word::saturated(*now) && Word::open(*now) && in_use(*now)) continue;
        const Bits next = ((*now - Word::one_permit) & ~borrowed) | Word::editing;
        if (!word_.cas(*now, next, order::acquire)) continue;
        observer_of(until).claims_permit(true);  // before the return, because there may be a thread to wake first
        set_head(Ring<Element>::remove(&own_element, own_element));
        done_editing(next, true);
        return true;
      }
      if (!patient) {
        if (borrowed != 0) word_.fetch_and(~borrowed, order::relaxed);
        return false;
      }
      patient = false;
      if (!Word::saturated(word_.fetch_or(Word::every_bypass | Word::saturation, order::relaxed)))
        borrowed = Word::saturation;
    }
  }

  // For a waiter that is awake, but not the head.
  template <Until U>
  bool take_out_of_turn(Element& own_element, const U& until) {
    for (;;) {
      const auto now =
          P::await_briefly(word_, &Word::available, P::short_spin == 0 ? 1 : P::short_spin, order::relaxed);
      if (!now || Word::saturated(*now) || head() == &own_element) return false;
      const Bits next = (*now - Word::one_permit) | Word::editing;
      if (!word_.cas(*now, next, order::acquire)) continue;
      observer_of(until).claims_permit(true);
      Element* const first = head();
      set_head(Ring<Element>::remove(first, own_element));
      done_editing(next, first == &own_element);
      return true;
    }
  }

  // Shut the gate while `editing` is set. Otherwise a thread that makes this waiter the head meanwhile could still take
  // it for awake, and no thread would wake it.
  void sleep_again(Element& own_element) {
    const Bits now = begin_editing();
    own_element.gate.store(gate_shut, order::relaxed);
    done_editing(now);
  }

  // The head calls this when it gets up, to record whether the line is saturated.
  void judge() {
    if constexpr (O.adapts) {
      Bits now = word_.load(order::relaxed);
      const bool busy = P::guess([&] { return survey(now); });
      if (busy && (now & Word::saturation) != Word::saturation) word_.fetch_or(Word::saturation, order::relaxed);
      // If a newcomer has changed the word, this observation is lost. There will be others.
      else if (!busy && Word::saturated(now)) word_.cas(now, now - Word::one_doubt, order::relaxed);
    }
  }

  // Whether the line is saturated: whether the threads that use the lock hold it in most of the looks, or acquire it
  // more than once between two looks. If they acquire it too rarely to tell, the answer is the earlier one.
  //
  // Each look takes the word from these threads and delays them. Looks at equal distances would fall into step with
  // them and always see the same moment of a section, so the distances are random.
  bool survey(Bits& now) {
    constexpr unsigned looks = 24, min_bypasses = 3;
    const Bits begin = now;
    unsigned held = 0;
    for (unsigned i = 0; i < looks; ++i) {
      P::pause(1 + P::random() % 8);
      now = word_.load(order::relaxed);
      held += Word::permits(now) <= 0;
    }
    const Bits before = begin & Word::every_bypass, after = now & Word::every_bypass;
    if (Word::closed(now) || after < before + min_bypasses * Word::one_bypass) return Word::saturated(now);
    const unsigned most = looks * (Word::saturated(now) ? 4 : 5) / 8;  // two bounds: the answer must not flicker
    return held >= most || after > before + looks * Word::one_bypass;
  }

  // Whether newcomers keep taking the permits. If they do, the head lets them: if it pushed in, a turn would last as
  // long as its successor takes to get up, and turns would not be equally long.
  bool in_use(Bits now) {
    P::pause(O.pauses);
    return word_.load(order::relaxed) != now;
  }

  [[gnu::noinline]] void leave(Element& own_element) {
    const Bits now = begin_editing();
    Element* const first = head();
    set_head(Ring<Element>::remove(first, own_element));
    done_editing(now, first == &own_element);
  }
};

}  // namespace v0
}  // namespace fairlock
