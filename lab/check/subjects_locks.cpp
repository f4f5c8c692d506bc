// SPDX-License-Identifier: Apache-2.0
#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_locks(std::vector<Subject>& list) {
  for_each_entry(Locks<Checked>{}, [&]<class E>() { list.push_back(subject_of<E>(false)); });
}

}  // namespace fairlock::check
