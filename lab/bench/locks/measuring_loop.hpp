// SPDX-License-Identifier: Apache-2.0
// The loop that measures a lock. The families use MeasuringLoop, which hides the type of the lock. The loop itself is
// compiled for its lock, so it makes no virtual call. Only this code is compiled for every lock: keep it small.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/contender.hpp"
#include "harness/optimizer.hpp"
#include "harness/placement.hpp"
#include "locks/adapters.hpp"

namespace bench {

class MeasuringLoop {
 public:
  MeasuringLoop() = default;
  virtual ~MeasuringLoop() = default;
  MeasuringLoop(const MeasuringLoop&) = delete;
  MeasuringLoop& operator=(const MeasuringLoop&) = delete;

  // Run episodes until the contender's quota is reached, or the sample is over.
  virtual void contend(Contender& self) = 0;
  // Run this many episodes and nothing else: counting each one would add a tenth to the time of the cheapest lock.
  virtual void run_empty(unsigned thread, std::uint64_t episodes) = 0;
};

template <class Adapter>
class LoopOver final : public MeasuringLoop {
  using Context = typename Adapter::Context;

 public:
  explicit LoopOver(Size size) : lock_(size) {
    if constexpr (!std::is_empty_v<Context>) {
      contexts_.resize(size.threads);
      if constexpr (requires { lock_.first_context(0u); })
        for (unsigned i = 0; i < size.threads; ++i) contexts_[i].value = lock_.first_context(i);
    }
  }

  void contend(Contender& self) override {
    auto& lock = opaque(lock_);
    auto&& context = context_of(self.number);
    // Keep these in registers, because each memory access of the loop costs time.
    auto* const witness = self.witness;
    auto& tally = self.tally;
    const auto& over = self.over;
    const bool plain = self.plain;
    auto episodes = tally.load(std::memory_order_relaxed);
    for (auto left = self.quota; left != 0 && !over.load(std::memory_order_relaxed); --left) {
      if (!plain) self.before_acquire();
      lock.episode(context, [&] {
        const auto before = witness != nullptr ? *witness : 0;  // a second thread inside reads the same number
        barrier();
        if (!plain) self.after_acquire();
        barrier();
        if (witness != nullptr) *witness = before + 1;
        if (!plain) self.before_release();
      });
      if (!plain) self.after_release();
      tally.store(++episodes, std::memory_order_relaxed);
    }
  }

  void run_empty(unsigned thread, std::uint64_t episodes) override {
    auto& lock = opaque(lock_);
    auto&& context = context_of(thread);
    for (; episodes != 0; --episodes) lock.episode(context, [] { barrier(); });
  }

 private:
  struct alignas(sector) AlignedContext {
    Context value{};
  };

  decltype(auto) context_of(unsigned thread) {
    if constexpr (std::is_empty_v<Context>) return Context{};
    else return (contexts_[thread].value);
  }

  alignas(place::page) Adapter lock_;
  alignas(sector) std::vector<AlignedContext> contexts_;
};

}  // namespace bench
