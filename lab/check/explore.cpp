// SPDX-License-Identifier: Apache-2.0
// Depth-first search over states: the default engine.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "check/driver.hpp"

namespace fairlock::check {

namespace {

// Words on huge pages, if the system has them. Nearly every access to a large set misses the caches. On small pages it
// would also miss the TLB.
class Table {
 public:
  explicit Table(std::size_t size) : size_(size), words_(allocate(size)) {}
  std::size_t size() const { return size_; }
  std::uint64_t& operator[](std::size_t i) { return words_.get()[i]; }
  const std::uint64_t& operator[](std::size_t i) const { return words_.get()[i]; }

 private:
  static std::uint64_t* allocate(std::size_t size) {
    constexpr std::size_t huge = 2 << 20;
    const auto bytes = size * sizeof(std::uint64_t);
    void* const memory = std::aligned_alloc(bytes < huge ? 64 : huge, bytes);
    if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
    if (bytes >= huge) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<std::uint64_t*>(std::memset(memory, 0, bytes));
  }
  struct Free {
    void operator()(std::uint64_t* words) const { std::free(words); }
  };

  std::size_t size_;
  std::unique_ptr<std::uint64_t, Free> words_;
};

// A flat set of hashes with open addressing. Zero marks a free slot, so the set stores the hash 0 as 1.
class Seen {
 public:
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

  bool insert(std::uint64_t hash) {
    hash |= hash == 0;
    if (count_ * 2 >= slots_.size()) grow();
    if (!place(slots_, hash)) return false;
    ++count_;
    return true;
  }

 private:
  static bool place(Table& slots, std::uint64_t hash) {
    const auto mask = slots.size() - 1;
    for (auto i = hash & mask;; i = (i + 1) & mask) {
      if (slots[i] == hash) return false;
      if (slots[i] == 0) {
        slots[i] = hash;
        return true;
      }
    }
  }
  void grow() {
    Table larger(slots_.size() * 4);
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] != 0) place(larger, slots_[i]);
    slots_ = std::move(larger);
  }

  Table slots_{1 << 12};
  std::size_t count_ = 0;
};

template <class Memory>
class Explorer {
 public:
  Explorer(const Program& program, const Config& config, std::uint64_t max_states, Progress& progress)
      : driver_(program, config), max_states_(max_states), progress_(progress) {}

  Result run() {
    const auto begin = std::chrono::steady_clock::now();
    search();
    if constexpr (requires { driver_.memory.wants_restart(); }) {
      if (driver_.memory.wants_restart()) {
        driver_.world.reset();
        driver_.memory.restart_with_fences();
        driver_.begin();
        seen_ = Seen{};
        result_ = Result{};
        open_.clear();
        frames_.clear();
        snapshots_.clear();
        path_.clear();
        search();
      }
    }
    progress_.states.store(result_.states, std::memory_order_relaxed);
    result_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  struct Frame {
    std::size_t first_open;  // index in open_. The open steps of the top frame extend to the end of open_
    std::size_t depth;       // how many steps of the path precede the frame
  };

  void search() {
    for (;;) {
      const auto first = open_.size();
      if (!visit()) open_.resize(first);
      if (result_.complete || stopped_) return;
      Step next;
      if (open_.size() == first) {
        if (!go_back(next)) return;
      } else {
        next = open_.back();
        open_.pop_back();
        if (open_.size() != first) {
          snapshots_.push(driver_);
          frames_.push_back({first, path_.size()});
        }
      }
      path_.push_back(next);
      driver_.take(next);
      if constexpr (requires { driver_.memory.wants_restart(); })
        if (driver_.memory.wants_restart()) return;
    }
  }

  // Returns whether the state is new and the search can go on from it. Its steps are then in open_.
  bool visit() {
    if (driver_.violated()) return report_violation();
    const auto first = open_.size();
    const auto hash = driver_.world.hash() + driver_.memory.hash();
    seen_.prefetch(hash);
    driver_.open_steps(open_);
    if (!seen_.insert(hash)) return false;
    if ((++result_.states & 0xfff) == 0) {
      progress_.states.store(result_.states, std::memory_order_relaxed);
      stopped_ = result_.states >= max_states_ || progress_.cancelled.load(std::memory_order_relaxed);
    }
    if (open_.size() != first && !driver_.stuck()) return true;
    driver_.judge_end();
    return driver_.violated() ? report_violation() : false;
  }

  bool report_violation() {
    result_.complete = true;
    result_.violation = driver_.world.judge().violation();
    result_.schedule = path_;
    return false;
  }

  bool go_back(Step& next) {
    if (frames_.empty()) {
      result_.complete = true;
      return false;
    }
    const auto frame = frames_.back();
    snapshots_.restore_top(driver_);
    path_.resize(frame.depth);
    next = open_.back();
    open_.pop_back();
    if (open_.size() == frame.first_open) {
      frames_.pop_back();
      snapshots_.pop();
    }
    return true;
  }

  Driver<Memory> driver_;
  std::uint64_t max_states_;
  Progress& progress_;
  Result result_;
  Seen seen_;
  std::vector<Step> open_;
  std::vector<Frame> frames_;
  typename Driver<Memory>::Snapshots snapshots_;
  std::vector<Step> path_;
  bool stopped_ = false;
};

}  // namespace

Result explore(const Program& program, const Config& config, std::uint64_t max_states, Progress& progress) {
  if (config.weak) return std::make_unique<Explorer<WeakMemory>>(program, config, max_states, progress)->run();
  return std::make_unique<Explorer<ScMemory>>(program, config, max_states, progress)->run();
}

}  // namespace fairlock::check
