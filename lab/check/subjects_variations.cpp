// SPDX-License-Identifier: Apache-2.0
#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

void add_variations(std::vector<Subject>& list) {
  for_each_entry(Variations<Checked>{}, [&]<class E>() { list.push_back(subject_of<E>(true)); });
}

}  // namespace fairlock::check
