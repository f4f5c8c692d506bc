// SPDX-License-Identifier: Apache-2.0
// The variations, with waiters that sleep. Fair locks with a small quota are left out. In these locks, a thread that
// sleeps until it may edit the line announces its sleep with an RMW. The checker mistakes this RMW for an arrival,
// although the thread is not in line yet. With a large quota, the mistake makes no difference.

#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_sleeping_variations(std::vector<Subject>& list) {
  const auto add = [&]<class E>() {
    if constexpr (E::properties.order != Order::at_head) add_sleeping_form<E>(list, true);
  };
  for_each_entry(Variations<CheckedSleeping>{}, add);
  for_each_entry(SemaphoreVariations<CheckedSleeping>{}, add);
}

}  // namespace fairlock::check
