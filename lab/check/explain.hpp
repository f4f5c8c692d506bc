// SPDX-License-Identifier: Apache-2.0
// A contended scenario, told by running it: A enters, B and C wait, and everybody leaves in turn.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "check/subject.hpp"

namespace fairlock::check {

struct Moment {
  std::string action;
  std::string owner;                                         // the thread inside, or empty
  std::vector<std::pair<std::string, std::string>> waiting;  // thread, and the word that it watches
  std::vector<std::string> values;                           // of Story::fields
  std::vector<std::string> operations;                       // that led here
};

struct Story {
  std::vector<std::string> fields;
  std::vector<Moment> moments;
};

Story explain(const Subject& subject);

}  // namespace fairlock::check
