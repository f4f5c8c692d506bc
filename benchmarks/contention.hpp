// Threads that contend for a lock, and the check that it excluded them: what `contend` and its kin have in common.
#pragma once

#include <memory>
#include <vector>

#include "crew.hpp"
#include "member.hpp"
#include "roster.hpp"

namespace bench {

class Contention {
 public:
  // Asks for --lock and its kin, and for --permits.
  Contention(Arguments& arguments, const Settings& settings);

  Measured& lock() { return *lock_; }
  Member& member(unsigned thread) { return *members_[thread]; }
  Crew& crew() { return *crew_; }

  // After the last question: makes everything.
  void prepare();

  // After the end: stops with a message if two threads were inside.
  void check() const;
  void write(Json& json, const Sample& sample) const;

 private:
  bool asked() const { return permits_ == 1; }

  const Settings settings_;
  const Sections sections_;
  const Entry& entry_;
  const std::uint64_t permits_;
  std::unique_ptr<Crew> crew_;
  std::unique_ptr<Protected> data_;
  std::unique_ptr<Measured> lock_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace bench
