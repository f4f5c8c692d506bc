// SPDX-License-Identifier: Apache-2.0
// A lock for each way to wait, with waiters that check their condition twice before they sleep (CheckedStepAside).
// The names end in +step+park.

#include <fairlock/catalogue.hpp>

#include "check/subject.hpp"

namespace fairlock::check {

namespace {

template <class P, FixedString... Names>
using LocksNamed = EntryList<typename decltype(detail::Find<Names, Locks<P>>::find())::type...>;

}  // namespace

void add_stepping_aside(std::vector<Subject>& list) {
  using P = CheckedStepAsideThenSleep;
  const auto add = [&]<class E>() {
    auto subject = subject_of<E>(false);
    subject.name += "+step+park";
    subject.sleeping = true;
    list.push_back(subject);
  };
  for_each_entry(LocksNamed<P, "ticket", "hapax", "hapax-vw", "mcs", "fair">{}, add);
  for_each_entry(Semaphores<P>{}, add);
}

}  // namespace fairlock::check
