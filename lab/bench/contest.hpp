// SPDX-License-Identifier: Apache-2.0
// A lock, the threads that want it, and the check that it kept them apart.
#pragma once

#include <memory>
#include <vector>

#include "crew.hpp"
#include "member.hpp"
#include "roster.hpp"

namespace bench {

// What the command line asks for.
struct Wanted {
  Settings settings;
  const Entry& entry;
  std::uint64_t permits;
  Sections sections{};
  bool alone = false;  // nobody else will ever want the lock

  Wanted(Arguments& arguments, const Settings& settings);

  std::uint64_t seed(unsigned thread) const;  // of its own generator
  enum class Exclusion { replayed, witnessed, not_asked };
  Exclusion exclusion() const;
  // The values that were used, and a number that the seed and they decide: the same again in a run with the same ones.
  void write(Json& json) const;
};

class Contest {
 public:
  Contest(const Wanted& wanted, Crew& crew);

  Measured& lock() { return *lock_; }

  // A thread that takes part. It counts its episodes in the crew's tally, or in another.
  Member& join(unsigned thread) { return join(thread, crew_.tally(thread), wanted_.sections); }
  Member& join(unsigned thread, std::atomic<std::uint64_t>& tally, const Sections& sections);
  // Every thread of the crew does; returns them by number.
  std::vector<Member*> join_all();

  // After the end: stops with a message if two threads were inside at once.
  void check() const;
  // The metrics of `contend`, which its kin have too.
  void write(Json& json, const Sample& sample) const;

 private:
  void write_notes(Json& json) const;

  const Wanted& wanted_;
  Crew& crew_;
  std::unique_ptr<Protected> data_;
  std::unique_ptr<Measured> lock_;
  std::vector<std::unique_ptr<Placed<Member, place::member>>> members_;
};

}  // namespace bench
