// FairLine: permits that whoever comes by may snatch, and a FIFO line of those who sleep for one, of whom the first is passed by at
// most `quota` times, and for about `patience`. What the fair lock and the fair semaphore share.
//
//   field          holds                                                      written by
//   word_          permits | bypassed | begun | asleep | poked | editing | waiting    everybody, by RMWs only
//     permits      to be had just now, counted from `initial`                 whoever takes one, whoever gives some
//     bypassed     newcomers who entered before the head; from quota on the   newcomers (+1), who lost patience (all ones), whoever
//                  line is closed: what is free is for the head               was the head (0)
//     begun        when the head became that: a coarse clock, modulo 1 ms     whoever made it the head
//     asleep       somebody sleeps on word_: the head, or who wants to edit   itself; whoever gives, or has edited (0)
//     poked        the head was told to get up, and looks at word_            whoever pokes it; whoever was the head (0)
//     editing      somebody changes the line                                  itself
//     waiting      the line is not empty                                      arrivals, the last to leave (0)
//   head_          the first in line, or null; and                            whoever edits
//     single       start_with(1) was called                                   its maker
//   element.gate   shut, asleep, woken (chain.hpp): poked                     its owner; whoever pokes
//   element.next, before: the line is a ring; before the head stands the last whoever edits
//
// A release gives permits and pokes the head, once. Until the head comes running, newcomers keep the lock busy: that is where the
// throughput is. It leaves them the rest of their quota too, unless they do not use it: so all turns are equally long. Newcomers
// look at the clock now and then and close the line themselves, because while they keep all processors busy the head cannot.
//
// Who gives when there were no permits and somebody must be woken, owes that: word_ itself says so (`owed`), and as long as it
// does, nobody takes a permit or edits. So the lock cannot be gone, and one RMW is all of a release that owes nothing. If the
// line is being edited, the editor wakes; so nobody who gives ever waits.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/chain.hpp>
#include <fairlock/properties.hpp>
#include <fairlock/ring.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

struct FairLineOptions {
  std::uint64_t initial = 0;         // permits of a line that is all zero
  unsigned quota = 1024;             // how many newcomers may enter before the head
  std::uint64_t patience = 60'000;   // nanoseconds: after so long the line is closed
  unsigned pauses = 32;              // a permit that nobody took for so long is not in use
};

// What the catalogue knows of the lock and of the semaphore.
constexpr Properties fair_properties(const char* name, unsigned quota) {
  return {
      .name = name,
      .source = "fairlock; after the hand-over of nsync and parking_lot",
      .spinning = "L+P",
      .order = Order::at_head,
      .bypass = static_cast<int>(quota),
      .on_stack = true,
      .space = "S*L + E*A",
  };
}

template <Platform P, FairLineOptions O>
class FairLine {
  using Word = std::uint64_t;
  static constexpr Word waiting = 1, editing = 2, poked = 4, asleep = 8;
  static constexpr Word one_tick = 16, one_bypass = one_tick << 7, one_permit = one_bypass << 13;
  static constexpr Word every_tick = one_bypass - one_tick, every_bypass = one_permit - one_bypass;
  static constexpr std::uint64_t tick = 1 << 13;  // nanoseconds
  static_assert(O.quota < every_bypass / one_bypass, "quota: at most 8190");
  static_assert(O.patience < every_tick / one_tick * tick / 2, "patience: at most half a millisecond");

 public:
  static constexpr std::uint64_t max() { return std::uint64_t{1} << 38; }

  std::int64_t permits() const { return permits(word_.load(order::relaxed)); }
  void start_with(std::uint64_t permits) {
    word_.init(permits * one_permit);
    if (permits == 1) head_.init(single);
  }

  bool try_take() {
    // A look at word_ would have to wait for our own last release. If there is a single permit we know without it what the word shows
    // while nobody has it or waits for it; and that nobody waits head_ tells, which no release writes.
    constexpr std::uintptr_t nobody_waits = O.initial == 1 ? 0 : single;
    Word now = (1 - O.initial) * one_permit;
    if (O.initial > 1 || head_.load(order::relaxed) != nobody_waits) now = word_.load(order::relaxed);
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
    if (snatch_or_arrive(*mine)) return true;
    if (P::watch(mine->gate, until) && take_as_head(*mine, until)) return true;
    leave(*mine);
    return false;
  }

  void give(std::uint64_t count) {
    const Word before = word_.fetch_add(count * one_permit, order::acq_rel);
    if (permits(before) > static_cast<std::int64_t>(max())) [[unlikely]] P::stop("fair", "released past max()");
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

  static std::int64_t permits(Word now) { return (static_cast<std::int64_t>(now) >> 24) + static_cast<std::int64_t>(O.initial); }
  static bool owed(Word now) {
    return permits(now) > 0 && (now & editing) == 0 && ((now & asleep) != 0 || (now & (waiting | poked)) == waiting);
  }
  static bool still(Word now) { return (now & editing) == 0 && !owed(now); }  // the line may be edited

  static bool open(Word now) {
    return permits(now) > 0 && ((now & (waiting | asleep)) == 0 || (!owed(now) && (now & every_bypass) < O.quota * one_bypass));
  }
  static Word taken(Word now) {
    if ((now & waiting) == 0) return now - one_permit;
    const Word next = now - one_permit + one_bypass;
    const bool look = (next & 7 * one_bypass) == 0;  // now and then: a clock costs about as much as the rest
    return look && ((clock() - (now & every_tick)) & every_tick) / one_tick * tick > O.patience ? next | every_bypass : next;
  }
  static Word clock() { return (P::now() / tick * one_tick) & every_tick; }

  // True: there was a permit after all.
  bool snatch_or_arrive(Element& mine) {
    Word now = word_.load(order::relaxed);
    for (;;) {
      if (open(now)) {
        if (word_.compare_exchange(now, taken(now), order::acquire)) return true;
      } else if (!still(now)) {
        now = *await(&still, Forever{});
      } else if (word_.compare_exchange(now, now | editing | waiting, order::acquire)) {
        break;
      }
    }
    Element* const first = head();
    lead(Ring<Element>::append(first, mine));
    done_editing(now | editing | waiting, first == nullptr);
    return false;
  }

  template <Until U>
  bool take_as_head(Element& mine, const U& until) {
    const auto to_be_had = [](Word now) { return permits(now) > 0 && still(now); };
    const auto patience = P::patience(until, O.patience);
    for (bool patient = true;;) {
      const auto now = patient ? await(to_be_had, patience) : await(to_be_had, until);
      if (now && !(patient && P::over(patience))) {
        if (patient && open(*now) && in_use(*now)) continue;
        const Word next = (*now - one_permit) | editing;
        if (!word_.cas(*now, next, order::acquire)) continue;
        until.counted(true);  // and not when we return: before that we may have somebody to wake
        lead(Ring<Element>::remove(&mine, mine));
        done_editing(next, true);
        return true;
      }
      if (!patient) return false;
      patient = false;
      word_.fetch_or(every_bypass, order::relaxed);
    }
  }

  // Whether newcomers keep taking the permits. Then the head lets them: were it to push in, the length of a turn would be how long
  // its successor takes to get up, and not the same for all.
  bool in_use(Word now) {
    P::pause(O.pauses);
    return word_.load(order::relaxed) != now;
  }

  [[gnu::noinline]] void leave(Element& mine) {
    Word now = word_.load(order::relaxed);
    for (;;) {
      if (!still(now)) now = *await(&still, Forever{});
      else if (word_.compare_exchange(now, now | editing, order::acquire)) break;
    }
    Element* const first = head();
    lead(Ring<Element>::remove(first, mine));
    done_editing(now | editing, first == &mine);
  }

  // Ends the editing, or pays what is owed: pokes the head if there is something for it, and wakes who sleeps on word_.
  // A new head has not been poked, and nobody has passed it by.
  [[gnu::noinline]] void done_editing(Word now, bool new_head = false) {
    Element* const first = head();
    const Word off = new_head ? poked | every_bypass | every_tick : 0, begun = new_head ? clock() : 0;
    const void* poke = nullptr;
    bool sleeps = false;
    Word next;
    do {
      next = (now & ~(editing | asleep | off)) | begun;
      if (first == nullptr) {
        next &= ~(waiting | poked | every_bypass | every_tick);
      } else if (poke == nullptr && permits(now) > 0 && (next & poked) == 0) {
        // Before we let go of the line: after that the head may be gone. Its address may be woken all the same.
        poke = &first->gate;
        sleeps = first->gate.exchange(gate_woken, order::acq_rel) == gate_asleep;
      }
      if (poke != nullptr) next |= poked;  // even if a newcomer took the permit meanwhile: the head is getting up
    } while (!word_.compare_exchange(now, next, order::acq_rel));
    if (sleeps) P::unpark(poke);
    if ((now & asleep) != 0) P::unpark(&word_);
  }

  // Waits for word_. Whoever sleeps there says so in the word itself, while the condition does not hold.
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
