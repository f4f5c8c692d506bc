// One lock under measurement, with the loops of all workloads. The workloads see Measured, which hides the type; each
// loop is compiled for its lock, so that nothing virtual happens within.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common.hpp"
#include "ticks.hpp"

namespace bench {

enum class Form { guard, mutex, semaphore, reference };
inline constexpr const char* form_names[] = {"guard", "mutex", "semaphore", "reference"};

struct Description {
  std::string name;
  Form form;
  const char* order = nullptr;   // in which the catalogue's locks admit; null for the references
  const char* policy = nullptr;  // how their waiters wait; likewise
};

struct alignas(sector) Protected {
  std::uint64_t counter = 0;
  unsigned owner = 0;  // the thread that is inside
};

// When entries count. Not before the last thread has come: until then nobody knows when that will be.
struct alignas(sector) Window {
  static constexpr Ticks unknown = std::numeric_limits<Ticks>::max();
  std::atomic<Ticks> opens{unknown}, closes{unknown};
};

// What one thread did in a crowd. Only entries within the window count, and of each wait only what lies within it, so a
// thread that waits all the time through has waited as long as the window is.
struct Turns {
  std::uint64_t all = 0, counted = 0;
  Ticks longest_wait = 0;
  bool alone = true;  // never saw another one inside
};

class Measured {
 public:
  explicit Measured(Description description) : description(std::move(description)) {}
  virtual ~Measured() = default;
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  virtual void pairs(unsigned n) = 0;
  // Pairs until one thread has done its quota and says stop; returns how many this thread has done.
  virtual std::uint64_t contend(unsigned thread, std::uint64_t quota, std::atomic<bool>& stop, Protected& data) = 0;
  // Pairs until the window closes, each acquire timed.
  virtual Turns crowd(unsigned thread, const Window& window, Protected& data) = 0;

  const Description description;
  std::uint64_t quota = 500;  // adapted to the lock's speed, so that all trials last about as long
};

using Subjects = std::vector<std::unique_ptr<Measured>>;

template <class Subject>
class MeasuredSubject final : public Measured {
  using Context = typename Subject::Context;

 public:
  explicit MeasuredSubject(Description description) : Measured(std::move(description)) {
    if constexpr (requires { subject_.first_context(0u); })
      for (unsigned i = 0; i < most_threads; ++i) contexts_[i].kept = subject_.first_context(i);
  }

  [[gnu::noinline]] void pairs(unsigned n) override {
    auto& subject = opaque(subject_);
    Context context = contexts_[0].kept;
    for (unsigned i = 0; i < n; ++i) {
      subject.episode(context, barrier);
      barrier();
    }
    contexts_[0].kept = context;
  }

  [[gnu::noinline]] std::uint64_t contend(unsigned thread, std::uint64_t quota, std::atomic<bool>& stop,
                                          Protected& data) override {
    auto& subject = opaque(subject_);
    Context context = contexts_[thread].kept;
    std::uint64_t done = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      subject.episode(context, [&] {
        ++data.counter;
        barrier();
      });
      barrier();
      if (++done == quota) stop.store(true, std::memory_order_relaxed);
    }
    contexts_[thread].kept = context;
    return done;
  }

  [[gnu::noinline]] Turns crowd(unsigned thread, const Window& window, Protected& data) override {
    auto& subject = opaque(subject_);
    Context context = contexts_[thread].kept;
    Turns turns;
    for (Ticks entered = 0, closes = Window::unknown; entered < closes;) {
      const Ticks asked = ticks();
      subject.episode(context, [&] {
        entered = ticks();
        data.owner = thread;
        barrier();
        ++data.counter;
        barrier();
        turns.alone &= data.owner == thread;
      });
      barrier();
      const Ticks opens = window.opens.load(std::memory_order_relaxed);
      closes = window.closes.load(std::memory_order_relaxed);
      ++turns.all;
      turns.counted += entered >= opens && entered < closes;
      turns.longest_wait = std::max(turns.longest_wait, std::min(entered, closes) - std::max(asked, opens));
    }
    contexts_[thread].kept = context;
    return turns;
  }

 private:
  struct alignas(sector) Aligned { Context kept{}; };

  alignas(sector) Subject subject_{};
  Aligned contexts_[most_threads];
};

}  // namespace bench
