// SPDX-License-Identifier: Apache-2.0
// Threads that do something over and over, each counting how often; the counts of a window are the sample.
//
//   threads         wait until all are there | warm-up | window | over: each finishes what it is at, and ends
//   main thread                              reads the counters ^ and ^, with the true time between
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "hogs.hpp"
#include "json.hpp"
#include "perf.hpp"
#include "sections.hpp"
#include "settings.hpp"

namespace bench {

std::vector<int> usable_cpus();

// What the window showed.
struct Sample {
  double elapsed = 0;                      // seconds
  std::vector<std::uint64_t> counts;       // of each thread
  double cpu_seconds = 0, other_work = 0;  // cpu_seconds: of all our threads, without the hogs
  long context_switches = 0;

  std::uint64_t episodes() const;
  double rate(std::uint64_t count) const { return static_cast<double>(count) / elapsed; }
  double processors() const;  // kept busy: cpu_seconds for each second of the window
};

class Crew {
 public:
  explicit Crew(const Settings& settings);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Once: every thread runs work(its number), which counts in tally() and returns soon after over() has come true.
  // Members note times while episodes are counted, or in a second window of the same length after that.
  Sample measure(const std::function<void(unsigned)>& work, bool second_window = false);

  std::atomic<std::uint64_t>& tally(unsigned thread) { return tallies_[thread].value; }
  const std::atomic<bool>& over() const { return over_.value; }
  const Window& window() const { return window_; }

  // What every family says of its sample: how much was done, and by whom; and what that took.
  void write_done(Json& json, const Sample& sample) const;
  void write_spent(Json& json, const Sample& sample) const;

 private:
  void start(const std::function<void(unsigned)>& work);
  void body(unsigned thread, const std::function<void(unsigned)>& work);
  void open_gate(int how);
  void watch(Sample& sample, bool second_window);
  void sleep_one_window(Clock::time_point begin) const;
  std::vector<std::uint64_t> counts() const;
  void end();

  const Settings settings_;
  Hogs hogs_;  // before perf_, which is not to count them
  Perf perf_;
  std::vector<Placed<std::atomic<std::uint64_t>, place::tally>> tallies_;
  std::vector<std::thread> threads_;
  Window window_;
  Placed<std::atomic<bool>, place::over> over_;
  alignas(sector) std::atomic<int> gate_{0};  // 0: wait here, 1: go, 2: go home
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned arrived_ = 0, gone_ = 0;  // under mutex_
};

}  // namespace bench
