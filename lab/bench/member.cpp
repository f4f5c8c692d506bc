// SPDX-License-Identifier: Apache-2.0
#include "member.hpp"

#include <algorithm>

#include "measured.hpp"

namespace bench {

void Member::ask() noexcept {
  if (sections_.timed && noting()) asked_ = ticks();
}

void Member::enter() noexcept {
  if (noting()) {
    entered_ = ticks();
    if (sections_.handover || sections_.migrations) {
      auto& [left, last] = data_.handover.value;
      came_ = last != 0 && last != number + 1;
      taken_ = entered_ - left;
      last = number + 1;
    }
  }
  (sections_.shared ? data_.generator.value : generator_).advance(sections_.critical);
  if (nested != nullptr) nested->work(*nested_member);
}

void Member::leave() noexcept {
  if (sections_.handover) data_.handover.value.left = ticks();
}

void Member::outside() noexcept {
  if (noting()) note();
  if (sections_.non_critical == 0) return;
  generator_.advance(sections_.random ? generator_.below(sections_.non_critical) : sections_.non_critical);
}

// Of each wait only what lies within the window counts, so a thread that waits all the time through has waited as long
// as the window is.
void Member::note() {
  const Ticks opens = window_.opens.load(std::memory_order_relaxed);
  const Ticks closes = window_.closes.load(std::memory_order_relaxed);
  const double nanoseconds = 1e9 / ticks_per_second();
  const Ticks asked = std::max(asked_, opens);
  if (sections_.timed) longest_wait = std::max(longest_wait, std::min(entered_, closes) - asked);
  if (entered_ < opens || entered_ >= closes) return;
  ++noted;
  if (sections_.timed) waits.add(static_cast<double>(entered_ - asked) * nanoseconds);
  if (came_ && sections_.handover) handovers.add(static_cast<double>(taken_) * nanoseconds);
  migrations += came_;
}

}  // namespace bench
