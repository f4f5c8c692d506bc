// SPDX-License-Identifier: Apache-2.0
// Subject: an entry of the catalogue that the checker can explore, without its type.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fairlock/platform/domain.hpp>
#include <fairlock/properties.hpp>

#include "check/lock_fixture.hpp"
#include "check/scenario.hpp"
#include "check/semaphore_fixture.hpp"

namespace fairlock::check {

struct Subject {
  std::string name;
  Properties properties;
  DomainOptions domain;
  bool variation = false;
  bool semaphore = false;
  bool condition = false;
  bool has_try = false;
  bool abandonable = false;
  bool sleeping = false;         // its waiters sleep, on chains
  bool has_ticket_line = false;  // its waiters stand in a TicketLine (line/ticket.hpp)
  Program (*make)(Scenario, std::uint32_t slots, const DomainOptions&) = nullptr;

  Program program(Scenario scenario, std::uint32_t slots) const { return make(scenario, slots, domain); }

  // Why the scenario does not apply to this subject. Empty if it applies.
  std::optional<std::string_view> refuses(Scenario scenario, unsigned threads) const;
};

const std::vector<Subject>& subjects();
const Subject* find_subject(std::string_view name);

void add_locks(std::vector<Subject>&);                // subjects_locks.cpp
void add_variations(std::vector<Subject>&);           // subjects_variations.cpp
void add_semaphores(std::vector<Subject>&);           // subjects_semaphores.cpp
void add_sleeping(std::vector<Subject>&);             // subjects_sleeping.cpp
void add_sleeping_variations(std::vector<Subject>&);  // subjects_sleeping_variations.cpp
void add_stepping_aside(std::vector<Subject>&);       // subjects_stepping_aside.cpp
void add_conditions(std::vector<Subject>&);           // subjects_conditions.cpp

template <class E>
Subject subject_of(bool variation) {
  Subject s;
  s.name = E::name;
  s.properties = E::properties;
  s.domain = E::domain;
  s.domain.lanes = s.domain.lanes < CheckedMemory::max_lanes ? s.domain.lanes : CheckedMemory::max_lanes;
  s.domain.leavers = s.domain.leavers < CheckedMemory::max_leavers ? s.domain.leavers : CheckedMemory::max_leavers;
  s.variation = variation;
  s.has_ticket_line = E::base.starts_with("ticket") || E::base.starts_with("twa") || E::base.starts_with("laned");
  if constexpr (requires { typename E::Semaphore; }) {
    s.semaphore = s.has_try = s.abandonable = true;
    s.make = &SemaphoreFixture<typename E::Semaphore>::program;
  } else {
    using Timed = timed_form<typename E::Lock>;
    s.has_try = E::try_lock;
    s.abandonable = TimedLock<Timed>;
    s.make = [](Scenario scenario, std::uint32_t slots, const DomainOptions& domain) {
      return uses_timed_form(scenario) ? LockFixture<Timed>::program(scenario, slots, domain)
                                       : LockFixture<typename E::Lock>::program(scenario, slots, domain);
    };
  }
  return s;
}

// Adds the form of a lock whose waiters sleep, if they can park and this form shows anything new.
template <class E>
void add_sleeping_form(std::vector<Subject>& list, bool variation) {
  if constexpr (E::properties.parkable && E::properties.order != Order::long_term) {
    auto subject = subject_of<E>(variation);
    subject.name += "+park";
    subject.sleeping = true;
    list.push_back(subject);
  }
}

}  // namespace fairlock::check
