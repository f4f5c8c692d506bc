// Threads that contend, few enough to have a processor each: how many pairs of acquire and release they get done
// together.
//
// They live as long as the part does and sleep between measurements; that they exist also keeps glibc from leaving out
// the atomics that a lone thread would not need.
//
// A measurement is many trials, each over in a fraction of a millisecond. One in which a thread lost its processor to
// other work says nothing of the lock, and does not count. If the threads have to share processors, losing one is part
// of the matter, and the measurement is a single trial.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "measured.hpp"

namespace bench {

std::vector<int> usable_cpus();

struct Outcome {
  double pairs_per_second;
  double slowest_to_fastest;
  unsigned trials, disturbed;
};

class Crew {
 public:
  Crew(unsigned threads, const std::vector<int>& cpus);
  ~Crew();

  Outcome contend(Measured& subject, Seconds time);

 private:
  struct alignas(sector) Member {
    std::thread thread;
    std::uint64_t done = 0;
    Clock::time_point from, to;
    bool disturbed = false;
  };

  struct Trial {
    double pairs_per_second;
    std::vector<std::uint64_t> done;  // by each thread
    bool disturbed, counts;
  };

  unsigned size() const { return static_cast<unsigned>(members_.size()); }
  void begin();
  void work(unsigned i);
  void meet(bool yield);
  void record();
  Outcome outcome();

  std::vector<Member> members_;
  const bool shared_;  // more threads than processors
  Measured* subject_ = nullptr;
  Clock::time_point end_;
  bool over_ = false;
  std::vector<Trial> trials_;
  alignas(sector) Protected data_;
  alignas(sector) std::atomic<bool> stop_{false};
  alignas(sector) std::atomic<unsigned> turn_{0};
  alignas(sector) std::atomic<unsigned> meetings_{0};
  std::atomic<unsigned> arrived_{0};
  alignas(sector) std::atomic<unsigned> busy_{0};
};

}  // namespace bench
