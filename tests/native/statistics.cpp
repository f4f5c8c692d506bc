// SPDX-License-Identifier: Apache-2.0
// Statistics: the counts are correct, and a lock without statistics is the same type as before.
#include <mutex>

#include <fairlock/fairlock.hpp>

#include "support/check.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

// A mutex whose statistics are switched off is the plain mutex: the same type, and so the same code and size.
static_assert(std::is_same_v<counted_mutex<"twa", DefaultWaiting, false>, timed_mutex<"twa">>);
static_assert(std::is_same_v<lock<"twa">, TwaLock<Native<>>> && sizeof(mutex<"twa">) == 16);
static_assert(std::is_trivially_destructible_v<Counted<CountingNative<>, TicketLock<CountingNative<>>>>);

namespace {

constinit Tally<CountingNative<>> all_zero;

void nothing_happened() {
  const auto s = all_zero.statistics();
  CHECK(s.acquisitions == 0 && s.contended_share() == 0 && s.longest == 0);
}

// Hold the mutex until another thread has waited for it for a while.
template <class M>
void make_a_thread_wait(M& mutex) {
  mutex.lock();
  std::thread other([&] { const std::scoped_lock held(mutex); });
  std::this_thread::sleep_for(30ms);
  mutex.unlock();
  other.join();
}

template <class Waiting>
void waits() {
  counted_mutex<"ticket", Waiting> mutex;
  for (unsigned i = 0; i < 100; ++i) { const std::scoped_lock held(mutex); }
  auto s = mutex.statistics();
  CHECK(s.acquisitions == 100 && s.contended == 0 && s.longest == 0 && s.waited == 0 && s.parks == 0 && s.woken == 0);

  do make_a_thread_wait(mutex);  // again if the other thread came too late
  while (mutex.statistics().contended == 0);
  s = mutex.statistics();
  CHECK(s.contended == 1 && s.waited != 0 && s.longest == s.waited && s.abandoned == 0);
  CHECK((s.parks != 0) <= Waiting::sleeps && s.woken <= 1 && (s.woken != 0) == (s.parks != 0));
  if (std::is_same_v<Waiting, Park>) CHECK(s.parks >= 1);

  mutex.lock();
  std::thread([&] { CHECK(!mutex.try_lock()); }).join();
  std::thread([&] { CHECK(!mutex.try_lock_for(5ms)); }).join();
  mutex.unlock();
  s = mutex.statistics();
  CHECK(s.abandoned == 1 && s.contended == 1 && s.longest >= 5'000'000);
}

template <class E, class Waiting>
void counts(unsigned rounds) {
  constexpr unsigned threads = E::properties.max_threads == 2 ? 2 : 4;
  Mutex<Counted<CountingNative<Waiting>, typename E::Lock>> mutex;
  std::uint64_t plain = 0;
  check::together(threads, [&](unsigned) {
    for (unsigned i = 0; i < rounds; ++i) {
      const std::scoped_lock held(mutex);
      ++plain;
    }
  });
  const auto s = mutex.statistics();
  CHECK(plain == threads * std::uint64_t{rounds} && s.acquisitions == plain);
  CHECK(s.contended <= s.acquisitions && s.woken <= s.contended && s.woken <= s.parks && s.longest <= s.waited);
  CHECK(s.abandoned == 0 && s.contended_share() >= 0 && s.contended_share() <= 1);
}

// A wait acquires the lock again, which counts as an acquisition.
void with_a_condition() {
  counted_mutex<"twa"> mutex;
  condition condition;
  std::unique_lock held(mutex);
  CHECK(!condition.wait_for(held, 1ms));
  CHECK(mutex.statistics().acquisitions == 2);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  nothing_happened();
  check::step("yield"), waits<Yield>();
  check::step("park"), waits<Park>();
  check::step("spin-then-park"), waits<SpinThenPark>();
  with_a_condition();
  for_each_entry(Locks<CountingNative<Yield>>{}, []<class E>() {
    check::step(std::string(E::name));
    counts<E, Yield>(check::rounds(2000));
  });
  for_each_entry(Locks<CountingNative<Park>>{}, []<class E>() {
    check::step(std::string(E::name), "park");
    if constexpr (E::properties.parkable) counts<E, Park>(check::rounds(1000));
  });
  return check::result();
}
