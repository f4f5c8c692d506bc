// SPDX-License-Identifier: Apache-2.0
// Every lock and semaphore whose waiters can sleep, with waiters that do. Their names end in +park. Of a capacitor that
// may be skipped there is nothing to learn that the capacitor and its inner lock do not show.

#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_sleeping(std::vector<Subject>& list) {
  const auto add = [&]<class E>() { add_sleeping_form<E>(list, false); };
  for_each_entry(Locks<CheckedSleeping>{}, add);
  for_each_entry(Semaphores<CheckedSleeping>{}, add);
}

}  // namespace fairlock::check
