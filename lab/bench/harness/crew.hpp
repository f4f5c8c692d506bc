// SPDX-License-Identifier: Apache-2.0
// A crew of threads that repeat an episode and count their repetitions. The counts within a time window are the sample.
//
//   threads         wait for each other | warm-up | window | finish the current episode and end
//   main thread                             reads the counts ^ and ^, and the exact time between
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "harness/common_options.hpp"
#include "harness/hardware_counters.hpp"
#include "harness/hogs.hpp"
#include "harness/json.hpp"
#include "harness/sections.hpp"

namespace bench {

std::vector<int> usable_cpus();

// What was measured in the window.
struct Sample {
  double elapsed = 0;                 // seconds
  std::vector<std::uint64_t> counts;  // the episodes of each thread
  double cpu_seconds = 0;             // of all threads of the crew, without the hogs
  double background_load = 0;
  long context_switches = 0;

  std::uint64_t episodes() const;
  double rate(std::uint64_t count) const { return static_cast<double>(count) / elapsed; }
  double processors() const;  // how many were busy: cpu_seconds for each second of the window
};

class Crew {
 public:
  explicit Crew(const CommonOptions& options);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Take the sample. A crew does this once. Every thread runs work(its number), which counts episodes in tally() and
  // returns soon after over() becomes true. Contenders record times in the same window, or, with second_window, in
  // another one of the same length after it.
  Sample measure(const std::function<void(unsigned)>& work, bool second_window = false);

  std::atomic<std::uint64_t>& tally(unsigned thread) { return tallies_[thread].value; }
  const std::atomic<bool>& over() const { return over_.value; }
  const Window& window() const { return window_; }

  // What every family prints: the episodes of each thread, and what they cost.
  void write_episodes(Json& json, const Sample& sample) const;
  void write_costs(Json& json, const Sample& sample) const;

 private:
  enum Gate : int { closed, open, cancelled };  // cancelled: the threads end at once

  void start(const std::function<void(unsigned)>& work);
  void body(unsigned thread, const std::function<void(unsigned)>& work);
  void set_gate(Gate gate);
  void watch(Sample& sample, bool second_window);
  void sleep_one_window(Clock::time_point begin) const;
  std::vector<std::uint64_t> counts() const;
  void end();

  const CommonOptions options_;
  Hogs hogs_;  // starts before counters_, which must not count them
  HardwareCounters counters_;
  std::vector<Placed<std::atomic<std::uint64_t>, place::tally>> tallies_;
  std::vector<std::thread> threads_;
  Window window_;
  Placed<std::atomic<bool>, place::over> over_;
  alignas(sector) std::atomic<int> gate_{closed};
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned ready_ = 0, ended_ = 0;  // protected by mutex_
};

}  // namespace bench
