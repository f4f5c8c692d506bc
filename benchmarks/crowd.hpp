// More threads than processors, all wanting the lock all the time, for a window after a warm-up: how many episodes they
// get done, how evenly, and how long one of them had to wait.
//
// Whoever enters looks at the clock, so the window is the same for all, and those still in line when it closes enter
// once more, uncounted. Every acquire is timed, by two looks at the processor's counter, one of them in the critical
// section: the same few nanoseconds for every lock. Who overtook whom cannot be seen from out here, because a thread
// may lose its processor between its look at the clock and its arrival in line; the checker looks at that.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "measured.hpp"

namespace bench {

struct Crowding {
  double pairs_per_second;
  double slowest_to_fastest;
  double longest_wait;                // seconds
  std::vector<std::uint64_t> counts;  // entries of each thread
};

class Crowd {
 public:
  explicit Crowd(unsigned threads);
  ~Crowd();

  Crowding measure(Measured& subject, Seconds warm_up, Seconds window);

 private:
  struct alignas(sector) Member {
    std::thread thread;
    Turns turns;
  };

  unsigned size() const { return static_cast<unsigned>(members_.size()); }
  void work(unsigned i);
  void arrive();
  void await_all(Seconds time);
  Crowding outcome();

  std::vector<Member> members_;
  Measured* subject_ = nullptr;
  Ticks warm_up_ = 0, length_ = 0;
  Window window_;
  alignas(sector) Protected data_;
  alignas(sector) std::atomic<unsigned> turn_{0};
  alignas(sector) std::atomic<unsigned> arrived_{0};
  std::mutex mutex_;
  std::condition_variable done_;
  unsigned busy_ = 0;  // under mutex_
};

}  // namespace bench
