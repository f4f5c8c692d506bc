// SPDX-License-Identifier: Apache-2.0
// Explain a lock by running a contended scenario: A enters, B and C wait, and all leave in turn.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "check/subject.hpp"

namespace fairlock::check {

struct Moment {
  std::string action;
  std::string owner;                                         // the thread inside, or empty
  std::vector<std::pair<std::string, std::string>> waiting;  // each waiter, and the word that it watches
  std::vector<std::string> values;                           // of Story::fields
  std::vector<std::string> operations;                       // since the previous moment
};

struct Story {
  std::vector<std::string> fields;
  std::vector<Moment> moments;
};

Story explain(const Subject& subject);

}  // namespace fairlock::check
