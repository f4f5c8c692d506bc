// SPDX-License-Identifier: Apache-2.0
// One lock under measurement. The families see Measured, which hides the type; the loop is compiled for its lock, so
// that nothing virtual happens within. It is the only code that is compiled for every lock: keep it small.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "common.hpp"
#include "member.hpp"
#include "subjects.hpp"

namespace bench {

class Measured {
 public:
  Measured() = default;
  virtual ~Measured() = default;
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  // Episodes until the quota is done, or it is over.
  virtual void work(Member& me) = 0;
  // So many episodes, and nothing else: what a thread counts beside them costs a tenth of the cheapest.
  virtual void bare(unsigned thread, std::uint64_t episodes) = 0;
};

template <class Subject>
class MeasuredSubject final : public Measured {
  using Context = typename Subject::Context;

 public:
  explicit MeasuredSubject(Size size) : subject_(size) {
    if constexpr (!std::is_empty_v<Context>) {
      contexts_.resize(size.threads);
      if constexpr (requires { subject_.first_context(0u); })
        for (unsigned i = 0; i < size.threads; ++i) contexts_[i].kept = subject_.first_context(i);
    }
  }

  void work(Member& me) override {
    auto& subject = opaque(subject_);
    auto&& context = context_of(me.number);
    // In registers: what the loop touches in memory it pays for.
    auto* const witness = me.witness;
    auto& tally = me.tally;
    const auto& over = me.over;
    const bool plain = me.plain;
    auto done = tally.load(std::memory_order_relaxed);
    for (auto left = me.quota; left != 0 && !over.load(std::memory_order_relaxed); --left) {
      if (!plain) me.ask();
      subject.episode(context, [&] {
        const auto before = witness != nullptr ? *witness : 0;  // whoever else is inside reads the same
        barrier();
        if (!plain) me.enter();
        barrier();
        if (witness != nullptr) *witness = before + 1;
        if (!plain) me.leave();
      });
      if (!plain) me.outside();
      tally.store(++done, std::memory_order_relaxed);
    }
  }

  void bare(unsigned thread, std::uint64_t episodes) override {
    auto& subject = opaque(subject_);
    auto&& context = context_of(thread);
    for (; episodes != 0; --episodes) subject.episode(context, [] { barrier(); });
  }

 private:
  struct alignas(sector) Aligned {
    Context kept{};
  };

  decltype(auto) context_of(unsigned thread) {
    if constexpr (std::is_empty_v<Context>) return Context{};
    else return (contexts_[thread].kept);
  }

  alignas(place::page) Subject subject_;
  alignas(sector) std::vector<Aligned> contexts_;
};

}  // namespace bench
