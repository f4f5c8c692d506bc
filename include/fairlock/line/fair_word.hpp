// SPDX-License-Identifier: Apache-2.0
// FairWord: the word of a FairLine (line/fair.hpp), in which permits, quota and line stand together.
//
//   permits | bypassed | begun | saturation | more | asleep | poked | editing | waiting          changed by RMWs only
//
//   bits         hold                                                     written by
//   permits      permits available now, counted from `initial`            takers (-1), releases (+n)
//   bypassed     newcomers that have passed the head; from quota on,      newcomers (+1); a thread that closes the line
//                the line is closed                                       (all ones); a new head, or a newcomer that
//                                                                         gives way (0)
//   begun        when `bypassed` was last 0: a coarse clock, modulo 1 ms  a new head, a newcomer that gives way
//   saturation   0: the line is not saturated; 3 after an observation     the head
//                that it is, one less after each observation that it
//                is not
//   more         taking the last permit clears `poked`                    the thread that wakes a waiter
//   asleep       a thread sleeps on the word: the head, or a thread       that thread; the thread that wakes it (0)
//                that waits to edit the line
//   poked        enough waiters are awake                                 the thread that wakes a waiter or edits
//   editing      a thread changes the line                                that thread
//   waiting      the line is not empty                                    arrivals; the last thread to leave (0)
#pragma once

#include <cstdint>

#include <fairlock/platform/platform.hpp>

namespace fairlock {
inline namespace v0 {

struct FairLineOptions {
  std::uint64_t initial = 0;         // permits of a line that is all zero
  unsigned quota = 1024;             // newcomers that may pass the head
  std::uint64_t patience = 100'000;  // nanoseconds for which newcomers may pass the head
  unsigned awake = 4;                // waiters awake at once while the line is not saturated
  unsigned pauses = 32;              // a permit that stays available for this many pauses is not in use
  bool adapts = true;                // false: the line always counts as saturated
};

template <Platform P, FairLineOptions O>
struct FairWord {
  using Bits = std::uint64_t;
  static constexpr Bits waiting = 1, editing = 2, poked = 4, asleep = 8, more = 16;
  static constexpr Bits one_doubt = 32, saturation = 3 * one_doubt;
  static constexpr Bits one_tick = one_doubt << 2, one_bypass = one_tick << 7, one_permit = one_bypass << 13;
  static constexpr Bits every_tick = one_bypass - one_tick, every_bypass = one_permit - one_bypass;

  static std::int64_t permits(Bits now) {
    return (static_cast<std::int64_t>(now) >> 27) + static_cast<std::int64_t>(O.initial);
  }

  // A release must still wake a waiter. As long as the word says so, no thread takes a permit or edits the line.
  static bool owed(Bits now) {
    return permits(now) > 0 && (now & editing) == 0 && ((now & asleep) != 0 || (now & (waiting | poked)) == waiting);
  }
  // Whether a thread may edit the line.
  static bool editable(Bits now) { return (now & editing) == 0 && !owed(now); }

  // Whether the head may take a permit.
  static bool available(Bits now) { return permits(now) > 0 && editable(now); }
  // Whether a newcomer may take a permit.
  static bool open(Bits now) {
    return permits(now) > 0 && ((now & (waiting | asleep)) == 0 || (!owed(now) && !closed(now)));
  }
  static bool closed(Bits now) { return (now & waiting) != 0 && (now & every_bypass) >= O.quota * one_bypass; }

  static constexpr bool saturated(Bits now) { return !O.adapts || (now & saturation) != 0; }

  // What the word becomes when a newcomer takes a permit.
  static Bits after_take(Bits now) {
    if ((now & waiting) == 0) return now - one_permit;
    Bits next = now - one_permit + one_bypass;
    if ((now & more) != 0 && permits(now) == 1) next &= ~(poked | more);
    if ((next & 7 * one_bypass) != 0) return next;  // the look at the clock costs about as much as all other steps
    const auto elapsed = ((clock() - (now & every_tick)) & every_tick) / one_tick * tick;
    if (elapsed <= O.patience) return next;
    return next | every_bypass;
  }

  // What the word becomes when a newcomer begins to edit the line. Unless the line is saturated, a newcomer that finds
  // it closed gives way, and the line is open to the next newcomer.
  static Bits after_arrival(Bits now) {
    if (closed(now) && !saturated(now)) now = (now & ~(every_bypass | every_tick)) | clock();
    return now | editing | waiting;
  }

  static Bits clock() { return (P::now() / tick * one_tick) & every_tick; }

 private:
  static constexpr std::uint64_t tick = 1 << 13;  // nanoseconds
  static constexpr std::uint64_t longest_patience = every_tick / one_tick * tick / 2;
  static_assert(O.quota < every_bypass / one_bypass, "quota: at most 8190");
  static_assert(O.patience < longest_patience, "patience: at most half a millisecond");
  static_assert(O.awake != 0, "awake: at least one");
};

}  // namespace v0
}  // namespace fairlock
