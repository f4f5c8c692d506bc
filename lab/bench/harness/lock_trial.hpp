// SPDX-License-Identifier: Apache-2.0
// One lock in a sample: its measuring loop, the threads that contend for it, and the check that the lock excluded them.
#pragma once

#include <memory>
#include <vector>

#include "harness/contender.hpp"
#include "harness/crew.hpp"
#include "locks/roster.hpp"

namespace bench {

// The options of the families that measure a lock.
struct TrialOptions {
  CommonOptions common;
  const Entry& entry;
  std::uint64_t permits;
  Sections sections{};
  bool single_thread = false;  // no other thread ever acquires the lock

  TrialOptions(Arguments& arguments, const CommonOptions& common);

  std::uint64_t seed(unsigned thread) const;  // of the thread's own generator
  enum class Exclusion { replayed, witnessed, not_checked };
  Exclusion exclusion() const;
  // Write the values that were used, and `drawn`, a number that depends only on these values. A repetition of this run
  // prints the same number.
  void write(Json& json) const;
};

class LockTrial {
 public:
  LockTrial(const TrialOptions& options, Crew& crew);

  MeasuringLoop& loop() { return *loop_; }

  // Add a thread. It counts its episodes in the crew's tally, or in the given one.
  Contender& join(unsigned thread) { return join(thread, crew_.tally(thread), options_.sections); }
  Contender& join(unsigned thread, std::atomic<std::uint64_t>& tally, const Sections& sections);
  // Add every thread of the crew, and return the contenders by number.
  std::vector<Contender*> join_all();

  // After the sample: if two threads were inside at once, end the program with a message.
  void check() const;
  // Write the metrics of `contend`, which other families have too.
  void write(Json& json, const Sample& sample) const;

 private:
  void write_records(Json& json) const;

  const TrialOptions& options_;
  Crew& crew_;
  std::unique_ptr<ProtectedData> data_;
  std::unique_ptr<MeasuringLoop> loop_;
  std::vector<std::unique_ptr<Placed<Contender, place::contender>>> contenders_;
};

}  // namespace bench
