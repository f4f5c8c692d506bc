// SPDX-License-Identifier: Apache-2.0
// Every lock and semaphore whose waiters can sleep, in the form in which they do. The names end in +park. Fractional
// capacitors are left out: they show nothing that the capacitor and its inner lock do not show.

#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_sleeping(std::vector<Subject>& list) {
  const auto add = [&]<class E>() { add_sleeping_form<E>(list, false); };
  for_each_entry(Locks<CheckedSleeping>{}, add);
  for_each_entry(Semaphores<CheckedSleeping>{}, add);
}

}  // namespace fairlock::check
