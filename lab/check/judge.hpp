// SPDX-License-Identifier: Apache-2.0
// Judge: tracks which threads are in line and which are inside, and finds violated properties.
//
// A scenario reports what its threads do, and the memory model reports what their operations change. The judge knows
// neither memory nor fibers. It keeps only the first violation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fairlock/properties.hpp>

#include "check/program.hpp"
#include "check/property.hpp"

namespace fairlock::check {

enum class Phase : std::uint8_t { outside, acquiring, inside, releasing };

// Where a thread stands.
struct Standing {
  Phase phase;
  std::uint8_t lock;  // the lock that the phase refers to
  bool leaving;       // still inside, until the first step of its release
  bool placed;        // its place in line is fixed, because it has begun to wait
  bool started;       // has taken a step
  bool finished;
};

// The line before one lock, in the order of arrival at the doorway.
struct Line {
  std::uint8_t length;
  std::uint8_t inside;  // a bit for each thread
  bool destroyed;
  std::uint8_t returns;  // a bit for each thread that gave up a wait, and may return to its place
  std::uint8_t thread[max_threads];
  std::uint8_t bypassed[max_threads][max_threads];  // [waiter][by]: how often `by` entered first although it arrived
                                                    // later. With platoons: by how many places later, at most
  std::uint8_t arrivals;                            // so far
  std::uint8_t place[max_threads];                  // of the threads in line, counted from the first arrival
};

class Judge {
 public:
  Judge(const Program& program, unsigned threads);

  void reset();

  // --- the verdict ---

  void violate(Property property, std::string what);
  bool violated() const { return violation_.property != Property::none; }
  const Violation& violation() const { return violation_; }

  const Standing& standing(unsigned t) const { return state_.standings[t]; }
  bool destroyed(unsigned lock) const { return state_.lines[lock].destroyed; }
  bool held() const;  // a thread is inside or in its release, so that a waiter has something to wait for

  // --- reports of the scenario ---

  void acquire(unsigned t, unsigned lock);
  void give_up(unsigned t);  // an acquire that failed
  void enter(unsigned t, unsigned lock);
  void release(unsigned t, unsigned lock);
  void leave(unsigned t);  // the release has returned
  void destroy(unsigned lock) { state_.lines[lock].destroyed = true; }
  void finish(unsigned t);

  // --- reports about the operations of thread t ---

  void begin_wait(unsigned t);    // the thread has posted a wait
  void give_up_wait(unsigned t);  // its deadline has passed
  void take_step(unsigned t) {    // an operation takes effect
    if (state_.standings[t].leaving) take_release_step(t);
  }
  void start(unsigned t) { state_.standings[t].started = true; }
  // A thread arrives when one of its RMWs changes the lock's own words (`arrive`), if it may arrive now.
  bool may_arrive(unsigned t) const {
    const auto& standing = state_.standings[t];
    return bounded_ && standing.phase == Phase::acquiring && !standing.placed;
  }
  void arrive(unsigned t);

  // --- states ---

  std::uint64_t hash() const;
  std::size_t snapshot_size() const { return sizeof state_; }
  std::byte* save(std::byte* to) const;
  const std::byte* restore(const std::byte* from);

 private:
  struct State {
    std::array<Standing, max_threads> standings;
    std::array<Line, max_locks> lines;
  };

  void take_release_step(unsigned t);
  void check_bypass(unsigned t);

  Order order_;
  int bypass_;
  unsigned threads_, locks_, permits_;
  bool always_held_;
  bool bounded_;  // the order bounds bypass
  State state_{};
  Violation violation_;
};

}  // namespace fairlock::check
