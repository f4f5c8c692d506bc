// SPDX-License-Identifier: Apache-2.0
#include "harness/contender.hpp"

#include <algorithm>

#include "locks/measuring_loop.hpp"

namespace bench {

void Contender::before_acquire() noexcept {
  if (sections_.timed && recording()) arrived_ = ticks();
}

void Contender::after_acquire() noexcept {
  if (recording()) {
    entered_ = ticks();
    if (sections_.handover || sections_.migrations) {
      auto& [left, last] = data_.handover.value;
      migrated_ = last != 0 && last != number + 1;
      handover_ = entered_ - left;
      last = number + 1;
    }
  }
  (sections_.shared ? data_.generator.value : generator_).advance(sections_.critical);
  if (nested != nullptr) nested->contend(*nested_contender);
}

void Contender::before_release() noexcept {
  if (sections_.handover) data_.handover.value.left = ticks();
}

void Contender::after_release() noexcept {
  if (recording()) record();
  if (sections_.non_critical == 0) return;
  generator_.advance(sections_.random ? generator_.below(sections_.non_critical) : sections_.non_critical);
}

// Only the part of a wait that lies within the window counts. So the longest wait of a thread that waits throughout the
// window is the length of the window.
void Contender::record() {
  const Ticks opens = window_.opens.load(std::memory_order_relaxed);
  const Ticks closes = window_.closes.load(std::memory_order_relaxed);
  const double nanoseconds = 1e9 / ticks_per_second();
  const Ticks arrived = std::max(arrived_, opens);
  if (sections_.timed) longest_wait = std::max(longest_wait, std::min(entered_, closes) - arrived);
  if (entered_ < opens || entered_ >= closes) return;
  ++recorded;
  if (sections_.timed) waits.add(static_cast<double>(entered_ - arrived) * nanoseconds);
  if (migrated_ && sections_.handover) handovers.add(static_cast<double>(handover_) * nanoseconds);
  migrations += migrated_;
}

}  // namespace bench
