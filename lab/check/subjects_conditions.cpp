// SPDX-License-Identifier: Apache-2.0
// The condition, over a FIFO lock, with waiters that spin and with waiters that sleep.

#include <fairlock/lock/ticket.hpp>

#include "check/condition_fixture.hpp"
#include "check/subject.hpp"

namespace fairlock::check {

namespace {

template <class P>
Subject condition(std::string name) {
  Subject s;
  s.name = std::move(name);
  s.properties.name = "condition";
  s.properties.source = "fairlock";
  s.properties.spinning = "L+P";
  s.condition = s.abandonable = true;
  s.sleeping = P::sleeps;
  s.make =
      &ConditionFixture<P, TicketLock<Checked>>::program;  // other subjects explore the lock with waiters that sleep
  return s;
}

}  // namespace

void add_conditions(std::vector<Subject>& list) {
  list.push_back(condition<Checked>("condition"));
  list.push_back(condition<CheckedSleeping>("condition+park"));
}

}  // namespace fairlock::check
