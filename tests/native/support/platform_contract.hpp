// SPDX-License-Identifier: Apache-2.0
// What every platform promises (fairlock/platform/platform.hpp), as a test that runs on any platform. All its words are
// zero at first, and it uses nothing but the platform, so it runs on a thread as well as on a fiber of the checker.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include <fairlock/platform/platform.hpp>
#include <fairlock/waiting/chain.hpp>

#include "check.hpp"

template <fairlock::Platform P>
class PlatformContract {
  using Word = typename P::template atomic<std::uint64_t>;
  using Deadline = fairlock::Deadline;
  using Forever = fairlock::Forever;
  static constexpr auto relaxed = fairlock::order::relaxed, acquire = fairlock::order::acquire;
  static constexpr auto release = fairlock::order::release, acq_rel = fairlock::order::acq_rel;

 public:
  // What one thread can see. Call it as the only thread.
  void alone() {
    memory();
    fences();
    own_memory();
    identity();
    chance();
    waits_that_are_over();
    waits_that_give_up();
    parking();
    P::free_at_exit([](void* count) { static_cast<Word*>(count)->fetch_add(1, relaxed); }, &exits_);
    CHECK(exits_.load(relaxed) == 0);
  }
  // How often the function that alone() passed to free_at_exit has run.
  std::uint64_t exits() const { return exits_.load(relaxed); }

  // Each kind of wait, which another thread ends in `end_waits`.
  void wait() {
    const auto serial = P::serial();
    const auto number = P::self();
    CHECK(P::await(words_[0], is_one, acquire) == 1);
    CHECK(message_ == &message_);
    CHECK(serial_.load(relaxed) != serial);
    CHECK(number >= P::max_threads || number_.load(relaxed) != number);
    CHECK(P::await(words_[1], is_one, acquire, P::key(this, 1)) == 1);
    CHECK(P::await_until(words_[2], is_one, Forever{}, acquire) == std::uint64_t{1});
    CHECK(P::await_until(words_[3], is_one, Forever{}, acquire, P::key(this, 3)) == std::uint64_t{1});
    const auto pauses = [](std::uint64_t) { return 1u; };
    CHECK(P::await_paced(words_[4], is_one, pauses, Forever{}, acquire, P::key(this, 4)) == std::uint64_t{1});
    CHECK(P::await_exchange(words_[5], 7u, is_one, acquire) == 1);
    CHECK(words_[5].load(relaxed) == 7);
    CHECK(P::watch(gate_, Forever{}));
    while (words_[6].load(acquire) == 0) CHECK(P::park(words_[6], 0, Forever{}));
    P::publish(words_[7], std::uint64_t{1});
  }

  // Calls before_each() before it ends a wait, so that the waiter may get there.
  template <class F>
  void end_waits(const F& before_each) {
    serial_.store(P::serial(), relaxed);
    number_.store(P::self(), relaxed);
    message_ = &message_;
    before_each();
    P::publish(words_[0], std::uint64_t{1});
    before_each();
    P::publish(words_[1], std::uint64_t{1}, P::key(this, 1));
    before_each();
    P::publish(words_[2], std::uint64_t{1});
    before_each();
    words_[3].fetch_add(1, acq_rel);
    P::signal(P::key(this, 3));
    before_each();
    P::publish(words_[4], std::uint64_t{1}, P::key(this, 4));
    before_each();
    P::publish(words_[5], std::uint64_t{1});
    before_each();
    if (gate_.exchange(fairlock::gate_woken, acq_rel) == fairlock::gate_asleep) P::unpark(&gate_);
    before_each();
    words_[6].store(1, release);
    P::unpark(&words_[6]);
    CHECK(P::await(words_[7], is_one, acquire) == 1);  // so that both threads live until here
  }

  // Changes words by every RMW. If several threads call it at once, no change is lost.
  void change(std::uint64_t rounds) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      added_.fetch_add(1, relaxed);
      std::uint64_t expected = swapped_.load(relaxed);
      while (!swapped_.compare_exchange(expected, expected + 1, relaxed)) {}
      for (expected = swapped_.load(relaxed); !swapped_.cas(expected, expected + 1, relaxed);)
        expected = swapped_.load(relaxed);
      if (taken_.exchange(1, acquire) != 0) continue;  // otherwise this thread alone is inside
      guarded_ = reinterpret_cast<void*>(turns() + 1);
      turns_.fetch_add(1, relaxed);
      taken_.store(0, release);
    }
  }
  bool changed(std::uint64_t rounds) const {
    return added_.load(relaxed) == rounds && swapped_.load(relaxed) == 2 * rounds && turns_.load(relaxed) == turns();
  }

 private:
  std::uintptr_t turns() const { return reinterpret_cast<std::uintptr_t>(static_cast<void*>(guarded_)); }

  static constexpr auto is_one = [](std::uint64_t value) { return value == 1; };
  static constexpr auto is_never = [](std::uint64_t) { return false; };

  void memory() {
    CHECK(word_.load(relaxed) == 0);
    word_.init(1);
    word_.store(2, release);
    CHECK(word_.exchange(3, acq_rel) == 2);
    CHECK(word_.fetch_add(4, relaxed) == 3);
    CHECK(word_.fetch_or(12, relaxed) == 7);
    CHECK(word_.fetch_and(25, relaxed) == 15);
    std::uint64_t expected = 1;
    CHECK(!word_.compare_exchange(expected, 5, acq_rel) && expected == 9);
    CHECK(word_.compare_exchange(expected, 5, acq_rel) && expected == 9);
    CHECK(!word_.cas(9, 6, relaxed) && word_.cas(5, 6, release));
    CHECK(word_.load(acquire) == 6);

    half_word_.init(~0u);
    CHECK(half_word_.fetch_add(1, relaxed) == ~0u && half_word_.load(relaxed) == 0);
    CHECK(pointer_.load(relaxed) == nullptr);
    CHECK(pointer_.exchange(this, acq_rel) == nullptr && pointer_.cas(this, nullptr, release));
    plain_ = &plain_;
    CHECK(plain_ == &plain_);
  }

  void fences() {
    P::fence(fairlock::order::seq_cst);
    P::fence(acquire);
    P::fence(release);
    word_.fetch_add(0, acq_rel);
    P::fence_after_rmw();
  }

  struct Own {
    std::uint64_t number;
  };
  struct OtherOwn {
    std::uint64_t number;
  };

  void own_memory() {
    auto& own = P::template local<Own>();
    CHECK(own.number == 0);
    CHECK(P::advance(own.number, 0) && own.number == 1);
    CHECK(&P::template local<Own>() == &own && P::template local<OtherOwn>().number == 0);

    typename P::template scoped<Own> scoped;
    scoped->number = 7;
    CHECK((*scoped).number == 7);

    auto* const first = P::template create<Own>();
    auto* const second = P::template create<Own>();
    first->number = 1;
    second->number = 2;
    CHECK(first != second && first->number == 1);
    P::destroy(first);
    CHECK(second->number == 2);
    P::destroy(second);
  }

  void identity() {
    const auto number = P::self();
    CHECK(P::self() == number);
    CHECK(P::serial() != 0 && P::serial() == P::serial());
    (void)P::cpu();
    (void)P::node();

    CHECK(P::salt(&word_) == P::salt(&word_) && P::salt(&word_) != P::salt(&half_word_));
    CHECK(P::identity(&word_) == P::identity(&word_) && P::identity(&word_) != P::identity(&half_word_));
    CHECK(P::identity(&word_) >> 63 == 1);  // hapaxes are below 2^63
    CHECK(P::key(&word_) == P::key(&word_) && P::key(&word_, 1) == P::key(&word_, 1));
    CHECK(P::key(&word_, 1) != P::key(&word_, 2));

    CHECK(&P::domain() == &P::domain() && P::domain().leavers.load(relaxed) == 0);
    const std::uint32_t slots = P::slots();
    CHECK(slots != 0 && (slots & (slots - 1)) == 0 && slots <= P::max_slots);
    CHECK(P::options().lanes <= P::max_lanes && P::options().leavers <= P::max_leavers);
  }

  void chance() {
    CHECK(P::chance({1, 1}) && !P::chance({0, 1}));
    (void)P::chance({1, 2});
    (void)P::guess([] { return true; });
    CHECK(P::random() != P::random());
  }

  // The value satisfies the condition already.
  void waits_that_are_over() {
    word_.store(1, relaxed);
    const auto pauses = [](std::uint64_t) { return 1u; };
    CHECK(P::await(word_, is_one, acquire) == 1);
    CHECK(P::await_until(word_, is_one, Deadline{0}, acquire) == std::uint64_t{1});
    CHECK(P::await_paced(word_, is_one, pauses, Deadline{0}, acquire, P::key(this)) == std::uint64_t{1});
    CHECK(P::await_briefly(word_, is_one, 1, acquire) == std::uint64_t{1});
    CHECK(P::await_if_worthwhile(this, word_, is_one, 1, acquire) == std::uint64_t{1});
    CHECK(P::await_exchange(word_, 2u, is_one, acquire) == 1 && word_.load(relaxed) == 2);
    (void)P::satisfied_soon(this, [] { return true; }, Deadline{0});  // false if the policy does not spin
    P::publish(word_, std::uint64_t{3});
    CHECK(word_.load(relaxed) == 3);
    P::publish(word_, std::uint64_t{4}, P::key(this), P::key(&word_));  // without waiters
    P::signal(P::key(this));
    P::pause(3);
  }

  // The value never satisfies the condition.
  void waits_that_give_up() {
    const auto pauses = [](std::uint64_t) { return 1u; };
    CHECK(!P::over(Forever{}));
    CHECK(!P::await_until(word_, is_never, Deadline{0}, acquire));
    CHECK(!P::await_until(word_, is_never, Deadline{P::now() + 1'000'000}, acquire, P::key(this)));
    CHECK(!P::await_paced(word_, is_never, pauses, Deadline{0}, acquire, P::key(this)));
    CHECK(!P::await_until(word_, is_never, P::within(Forever{}, 1'000), acquire));
    CHECK(!P::await_briefly(word_, is_never, 3, acquire));
    CHECK(!P::await_if_worthwhile(this, word_, is_never, 3, acquire));
    CHECK(!P::satisfied_soon(this, [] { return false; }, Deadline{0}));
    CHECK(!P::watch(gate_, Deadline{0}));
    gate_.store(fairlock::gate_woken, relaxed);
    CHECK(P::watch(gate_, Forever{}));
    gate_.store(fairlock::gate_shut, relaxed);
  }

  void parking() {
    word_.store(5, relaxed);
    CHECK(P::park(word_, 4, Forever{}));  // another value: the thread does not sleep
    while (P::park(word_, 5, Deadline{0})) {}
    P::unpark(&word_);
    P::unpark(nullptr);  // of an address where no thread sleeps
  }

  Word word_, exits_;
  typename P::template atomic<std::uint32_t> half_word_, gate_;
  typename P::template atomic<void*> pointer_;
  typename P::template plain<void*> plain_, message_;
  Word words_[8];
  Word serial_, number_;
  Word added_, swapped_, taken_, turns_;
  typename P::template plain<void*> guarded_;
};

// For a platform of real threads.
template <fairlock::Platform P>
void keeps_the_contract(const char* platform, const char* policy) {
  check::step(platform, policy, "alone");
  PlatformContract<P> contract{};
  std::thread([&] { contract.alone(); }).join();
  CHECK(contract.exits() == 1);
  for (unsigned i = check::rounds(200); i > 0; --i) {
    check::step(platform, policy, "two threads");
    PlatformContract<P> pair{};
    const auto pace = [i] {  // in some rounds, the waiter has the time to fall asleep
      if (i % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    };
    check::together(2, [&](unsigned thread) { thread == 0 ? pair.wait() : pair.end_waits(pace); });
  }
  check::step(platform, policy, "two threads that change the same words");
  PlatformContract<P> shared{};
  const std::uint64_t rounds = check::rounds(100'000);
  check::together(2, [&](unsigned) { shared.change(rounds); });
  CHECK(shared.changed(2 * rounds));
}
