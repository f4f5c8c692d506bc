// SPDX-License-Identifier: Apache-2.0
// FairLine: permits that newcomers may take, and a FIFO line of threads that sleep until they get one. The fair lock
// and the fair semaphore share it.
//
//   field          holds                                                      written by
//   word_          permits | bypassed | begun | saturation | more | asleep | poked | editing | waiting    RMWs only
//     permits      available now, counted from `initial`                      takers (-1), releases (+n)
//     bypassed     newcomers that have passed the head; from quota on, the    newcomers (+1); a thread that closes the
//                  line is closed                                             line (all ones); a new head, or a
//                                                                             thread that gives way (0)
//     begun        when `bypassed` was last 0: a coarse clock, modulo 1 ms    a new head, a thread that gives way
//     saturation   0: the line is not saturated; 3 after an observation that  the head
//                  it is, one less after each observation that it is not
//     more         once the last permit is taken, `poked` is false again      the thread that wakes a waiter
//     asleep       a thread sleeps on word_: the head, or one that waits to   that thread; the thread that wakes it (0)
//                  edit the line
//     poked        enough waiters are awake                                   the thread that wakes a waiter or edits
//     editing      a thread changes the line                                  that thread
//     waiting      the line is not empty                                      arrivals; the last thread to leave (0)
//   head_          the first element of the line, or null; and                the thread that edits
//     single       start_with(1) was called                                   its maker
//   element.gate   shut, asleep or woken (waiting/chain.hpp)                          its owner; the thread that wakes it
//   element.next, before: the line is a ring; before the head stands the last element     the thread that edits
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
// observation that it is saturated is enough; three contrary ones in a row withdraw it. A head that sees too few
// acquisitions to tell confirms what was known. A wrong guess costs time, never correctness.
//
// Once the head is awake, newcomers pass it for at most `patience`, saturated or not: then it closes the line.
//
// A release that finds no permits and must wake a waiter owes that wake-up. The word itself shows this (`owed`), and as
// long as it does, no thread takes a permit or edits the line. So the lock cannot be destroyed meanwhile, and a release
// that owes nothing is one RMW. If another thread is editing the line, it wakes the waiter: a release never waits.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/line/ring.hpp>
#include <fairlock/properties.hpp>
#include <fairlock/until.hpp>
#include <fairlock/waiting/chain.hpp>

namespace fairlock {
inline namespace v0 {

struct FairLineOptions {
  std::uint64_t initial = 0;         // permits of a line that is all zero
  unsigned quota = 1024;             // newcomers that may pass the head
  std::uint64_t patience = 100'000;  // nanoseconds for which they may pass it
  unsigned awake = 4;                // waiters awake at once while it is not saturated
  unsigned pauses = 32;              // a permit that stays available for this many pauses is not in use
  bool adapts = true;                // false: the line always counts as saturated
};

// What the catalogue knows of the lock and of the semaphore.
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
class FairLine {
  using Word = std::uint64_t;
  static constexpr Word waiting = 1, editing = 2, poked = 4, asleep = 8, more = 16;
  static constexpr Word one_doubt = 32, saturation = 3 * one_doubt;
  static constexpr Word one_tick = one_doubt << 2, one_bypass = one_tick << 7, one_permit = one_bypass << 13;
  static constexpr Word every_tick = one_bypass - one_tick, every_bypass = one_permit - one_bypass;
  static constexpr std::uint64_t tick = 1 << 13;  // nanoseconds
  static constexpr std::uint64_t longest_patience = every_tick / one_tick * tick / 2;
  static_assert(O.quota < every_bypass / one_bypass, "quota: at most 8190");
  static_assert(O.patience < longest_patience, "patience: at most half a millisecond");
  static_assert(O.awake != 0, "awake: at least one");

 public:
  static constexpr std::uint64_t max() { return std::uint64_t{1} << 35; }

  std::int64_t permits() const { return permits(word_.load(order::relaxed)); }
  void start_with(std::uint64_t permits) {
    word_.init(permits * one_permit);
    if (permits == 1) head_.init(single);
  }

  bool try_take() {
    // A load of word_ would wait for this thread's own last release. With a single permit, the word is known as long as
    // the permit is free and no thread waits; head_, which no release writes, shows whether one waits.
    constexpr std::uintptr_t no_waiter = O.initial == 1 ? 0 : single;
    Word now = (1 - O.initial) * one_permit;
    if (O.initial > 1 || head_.load(order::relaxed) != no_waiter) now = word_.load(order::relaxed);
    else if (word_.compare_exchange(now, now - one_permit, order::acquire)) [[likely]] return true;
    while (open(now))
      if (word_.compare_exchange(now, taken(now), order::acquire)) return true;
    return false;
  }

  // After try_take failed.
  template <Until U>
  [[gnu::noinline]] bool take_until(const U& until) {
    if (P::over(until)) return false;
    typename P::template scoped<Element> mine;
    mine->gate.init(gate_shut);
    if (take_soon() || take_or_arrive(*mine)) return true;
    while (P::watch(mine->gate, until)) {
      if (head() == &*mine) {
        if (take_as_head(*mine, until)) return true;
        break;
      }
      if (take_out_of_turn(*mine, until)) return true;
      sleep_again(*mine);
    }
    leave(*mine);
    return false;
  }

  void give(std::uint64_t count) {
    const Word before = word_.fetch_add(count * one_permit, order::acq_rel);
    if (permits(before) > static_cast<std::int64_t>(max())) [[unlikely]]
      P::stop("fair", "released past max()");
    if ((before & (waiting | asleep)) != 0 && permits(before) <= 0 && owed(before + count * one_permit)) [[unlikely]]
      done_editing(before + count * one_permit);
  }

  template <class V>
  void fields(V&& visit) const {
    visit("word", word_);
    visit("head", head_);
  }

 private:
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
  void lead(Element* first) {
    const auto kept = head_.load(order::relaxed) & single;
    head_.store(reinterpret_cast<std::uintptr_t>(first) | kept, order::relaxed);
  }

  static std::int64_t permits(Word now) {
    return (static_cast<std::int64_t>(now) >> 27) + static_cast<std::int64_t>(O.initial);
  }
  static bool owed(Word now) {
    return permits(now) > 0 && (now & editing) == 0 && ((now & asleep) != 0 || (now & (waiting | poked)) == waiting);
  }
  static bool still(Word now) { return (now & editing) == 0 && !owed(now); }  // the line may be edited

  static constexpr bool saturated(Word now) { return !O.adapts || (now & saturation) != 0; }
  static bool closed(Word now) { return (now & waiting) != 0 && (now & every_bypass) >= O.quota * one_bypass; }
  static bool open(Word now) {  // to newcomers
    return permits(now) > 0 && ((now & (waiting | asleep)) == 0 || (!owed(now) && !closed(now)));
  }

  // What the word becomes when a newcomer takes a permit.
  static Word taken(Word now) {
    if ((now & waiting) == 0) return now - one_permit;
    Word next = now - one_permit + one_bypass;
    if ((now & more) != 0 && permits(now) == 1) next &= ~(poked | more);
    if ((next & 7 * one_bypass) != 0) return next;  // a look at the clock costs about as much as the rest
    const auto elapsed = ((clock() - (now & every_tick)) & every_tick) / one_tick * tick;
    if (elapsed <= O.patience) return next;
    return next | every_bypass;
  }
  static Word clock() { return (P::now() / tick * one_tick) & every_tick; }

  // What the word becomes when a newcomer begins to edit the line. Unless the line is saturated, a newcomer that finds
  // it closed gives way, and the line is open to the next newcomer.
  static Word arriving(Word now) {
    if (closed(now) && !saturated(now)) now = (now & ~(every_bypass | every_tick)) | clock();
    return now | editing | waiting;
  }

  // A newcomer watches the word for a moment, unless threads take turns or it has to give way.
  bool take_soon() {
    if constexpr (P::looks != 0) {
      const auto decided = [](Word now) {
        return open(now) || closed(now) || ((now & waiting) != 0 && saturated(now));
      };
      for (;;) {
        auto now = P::await_briefly(word_, decided, P::looks, order::relaxed);
        if (!now || !open(*now)) return false;
        if (word_.compare_exchange(*now, taken(*now), order::acquire)) return true;
      }
    }
    return false;
  }

  // True: there was a permit after all.
  bool take_or_arrive(Element& mine) {
    Word now = word_.load(order::relaxed);
    Word next;
    for (;;) {
      if (open(now)) {
        if (word_.compare_exchange(now, taken(now), order::acquire)) return true;
      } else if (!still(now)) {
        now = *await(&still, Forever{});
      } else {
        next = arriving(now);
        if (word_.compare_exchange(now, next, order::acquire)) break;
      }
    }
    Element* const first = head();
    lead(Ring<Element>::append(first, mine));
    done_editing(next, first == nullptr);
    return false;
  }

  template <Until U>
  bool take_as_head(Element& mine, const U& until) {
    const auto patience = P::patience(until, O.patience);
    judge();
    Word borrowed = 0;  // saturation that the head set only to close the line, not for what it observed
    for (bool patient = true;;) {
      const auto now = patient ? await(&available, patience) : await(&available, until);
      if (now && !(patient && P::over(patience))) {
        if (patient && saturated(*now) && open(*now) && in_use(*now)) continue;
        const Word next = ((*now - one_permit) & ~borrowed) | editing;
        if (!word_.cas(*now, next, order::acquire)) continue;
        observer_of(until).claims_permit(true);  // not only on return: there may be a thread to wake first
        lead(Ring<Element>::remove(&mine, mine));
        done_editing(next, true);
        return true;
      }
      if (!patient) {
        if (borrowed != 0) word_.fetch_and(~borrowed, order::relaxed);
        return false;
      }
      patient = false;
      if (!saturated(word_.fetch_or(every_bypass | saturation, order::relaxed))) borrowed = saturation;
    }
  }
  static bool available(Word now) { return permits(now) > 0 && still(now); }

  // For a waiter that is awake, but not the head.
  template <Until U>
  bool take_out_of_turn(Element& mine, const U& until) {
    for (;;) {
      const auto now = P::await_briefly(word_, &available, P::looks == 0 ? 1 : P::looks, order::relaxed);
      if (!now || saturated(*now) || head() == &mine) return false;
      const Word next = (*now - one_permit) | editing;
      if (!word_.cas(*now, next, order::acquire)) continue;
      observer_of(until).claims_permit(true);
      Element* const first = head();
      lead(Ring<Element>::remove(first, mine));
      done_editing(next, first == &mine);
      return true;
    }
  }

  // The gate shuts under `editing`. Otherwise a thread that makes this waiter the head meanwhile could still take it
  // for awake, and no thread would wake it.
  void sleep_again(Element& mine) {
    const Word now = begin_editing();
    mine.gate.store(gate_shut, order::relaxed);
    done_editing(now);
  }

  // The head, when it gets up, notes whether the line is saturated.
  void judge() {
    if constexpr (O.adapts) {
      Word now = word_.load(order::relaxed);
      const bool busy = P::guess([&] { return survey(now); });
      if (busy && (now & saturation) != saturation) word_.fetch_or(saturation, order::relaxed);
      // If a newcomer has changed the word, this observation is lost; there will be others.
      else if (!busy && saturated(now)) word_.cas(now, now - one_doubt, order::relaxed);
    }
  }

  // Whether the line is saturated: whether the threads that use the lock hold it in most of the looks, or acquire it
  // more than once between two looks. If they acquire it too rarely to tell, the answer is what was known before.
  //
  // Each look takes the word from these threads and delays them. Looks at equal distances would fall into step with
  // them and always see the same moment of a section, so the distances are random.
  bool survey(Word& now) {
    constexpr unsigned looks = 24, enough = 3;
    const Word begin = now;
    unsigned held = 0;
    for (unsigned i = 0; i < looks; ++i) {
      P::pause(1 + P::random() % 8);
      now = word_.load(order::relaxed);
      held += permits(now) <= 0;
    }
    const Word before = begin & every_bypass, after = now & every_bypass;
    if (closed(now) || after < before + enough * one_bypass) return saturated(now);
    const unsigned most = looks * (saturated(now) ? 4 : 5) / 8;  // two bounds: the answer must not flicker
    return held >= most || after > before + looks * one_bypass;
  }

  // Whether newcomers keep taking the permits. Then the head lets them: if it pushed in, a turn would last as long as
  // its successor takes to get up, and turns would not be equally long.
  bool in_use(Word now) {
    P::pause(O.pauses);
    return word_.load(order::relaxed) != now;
  }

  Word begin_editing() {
    Word now = word_.load(order::relaxed);
    for (;;) {
      if (!still(now)) now = *await(&still, Forever{});
      else if (word_.compare_exchange(now, now | editing, order::acquire)) return now | editing;
    }
  }

  [[gnu::noinline]] void leave(Element& mine) {
    const Word now = begin_editing();
    Element* const first = head();
    lead(Ring<Element>::remove(first, mine));
    done_editing(now, first == &mine);
  }

  // The next waiter to wake, or null.
  static Element* sleeper(Element* first, Word now) {
    Element* element = first;
    for (unsigned left = saturated(now) ? 1 : O.awake; left != 0; --left) {
      if (element->gate.load(order::relaxed) != gate_woken) return element;
      element = element->next;
      if (element == first) break;
    }
    return nullptr;
  }

  // Ends the editing, or pays what is owed: wakes a waiter if there is a permit, and the thread that sleeps on word_.
  // No newcomer has passed a new head yet.
  [[gnu::noinline]] void done_editing(Word now, bool new_head = false) {
    Element* const first = head();
    const Word off = new_head ? every_bypass | every_tick : 0, begun = new_head ? clock() : 0;
    const void* woken = nullptr;
    bool sleeps = false;
    Word next;
    do {
      next = (now & ~(editing | asleep | poked | more | off)) | begun;
      if (first == nullptr) {
        next &= ~(waiting | saturation | every_bypass | every_tick);
      } else {
        Element* waiter = sleeper(first, now);
        if (waiter != nullptr && woken == nullptr && permits(now) > 0) {
          // Before the line may change: after that the waiter may be gone. Its address may be woken all the same.
          woken = &waiter->gate;
          sleeps = waiter->gate.exchange(gate_woken, order::acq_rel) == gate_asleep;
          waiter = sleeper(first, now);
        }
        if (waiter == nullptr) next |= poked;
        else if (woken != nullptr) next |= poked | more;  // one at a time
      }
    } while (!word_.compare_exchange(now, next, order::acq_rel));
    if (sleeps) P::unpark(woken);
    if ((now & asleep) != 0) P::unpark(&word_);
  }

  // Waits for word_. A thread that sleeps there shows it in the word itself, while the condition does not hold.
  template <class C, Until U>
  std::optional<Word> await(const C& condition, const U& until) {
    if constexpr (!P::sleeps) {
      return P::await_until(word_, condition, until, order::relaxed);
    } else {
      if constexpr (P::looks != 0)
        if (const auto now = P::await_briefly(word_, condition, P::looks, order::relaxed)) return now;
      for (Word now = word_.load(order::relaxed);;) {
        if (condition(now)) return now;
        if ((now & asleep) == 0) {
          if (!word_.compare_exchange(now, now | asleep, order::relaxed)) continue;
          now |= asleep;
        }
        const bool in_time = P::park(word_, now, until);
        now = word_.load(order::relaxed);
        if (!in_time) return condition(now) ? std::optional(now) : std::nullopt;
      }
    }
  }

  typename P::template atomic<Word> word_;
  typename P::template atomic<std::uintptr_t> head_;
};

}  // namespace v0
}  // namespace fairlock
