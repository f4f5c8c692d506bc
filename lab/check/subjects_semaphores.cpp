// SPDX-License-Identifier: Apache-2.0
#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_semaphores(std::vector<Subject>& list) {
  for_each_entry(Semaphores<Checked>{}, [&]<class E>() { list.push_back(subject_of<E>(false)); });
  for_each_entry(SemaphoreVariations<Checked>{}, [&]<class E>() { list.push_back(subject_of<E>(true)); });
}

}  // namespace fairlock::check
