// SPDX-License-Identifier: Apache-2.0
// The soak test: every lock and semaphore under each of its policies, with random numbers of threads, random timeouts,
// tries and interrupts, round after round until the time is up. Each turn ends with the replay check, a free lock, and
// no leavers in the domain.
//
//   fairlock_soak [SECONDS] [SEED]
//
// Exit status 0: the time is up and every check passed. 1: a check failed. 124: a turn was stuck.
#include <fairlock/fairlock.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../native/support/check.hpp"
#include "../native/support/enterable.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

namespace {

struct Turn {
  std::string name;
  bool oversubscribes;
  // Returns episodes.
  std::function<std::uint64_t(unsigned threads, std::chrono::milliseconds time, unsigned seed)> run;
};

template <class T, class P>
std::uint64_t run(unsigned threads, std::chrono::milliseconds time, unsigned seed) {
  using Call = Interrupt<P>;
  T thing;
  std::mt19937 shared;
  std::atomic<std::uint64_t> steps{0};
  std::atomic<bool> over{false};
  std::vector<Call> calls(threads);
  std::thread disturber([&] {  // interrupts a thread now and then, and ends the turn
    std::minstd_rand dice(seed);
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      calls[dice() % threads].raise();
      std::this_thread::sleep_for(std::chrono::microseconds(dice() % 500));
    }
    over = true;
    for (auto& call : calls) call.raise();
  });
  check::together(threads, [&](unsigned t) {
    std::minstd_rand dice(seed + t + 1);
    auto& call = calls[t];
    const auto enter = [&] {
      const auto soon = std::chrono::microseconds(dice() % 300);
      switch (dice() % 8) {
        case 0: return thing.try_enter();
        case 1:
        case 2: return thing.enter(deadline_in(soon));
        case 3: return thing.enter(Interruptible<P>{call, deadline_in(10 * soon).at});
        case 4: return thing.enter(Interruptible<P>{call});
        default: thing.enter(); return true;
      }
    };
    while (!over) {
      const bool entered = enter();
      if (call.raised()) call.lower();
      if (!entered) continue;
      shared.discard(1);
      steps.fetch_add(1, std::memory_order_relaxed);
      if (dice() % 64 == 0) std::this_thread::yield();
      thing.leave();
    }
  });
  disturber.join();
  std::mt19937 again;
  again.discard(steps);
  CHECK(shared == again);
  CHECK(thing.free());
  CHECK(P::domain().leavers.load(order::relaxed) == 0);
  CHECK(P::domain().reserved.load(order::relaxed) == 0);
  return steps;
}

// A lock whose waiters cannot leave: a timed enter only tries.
template <class L>
struct Untimed : Entered<L> {
  using Entered<L>::enter;
  bool enter(const auto&) { return try_enter(); }
  bool try_enter() {
    if constexpr (TryLock<L>) return Entered<L>::try_enter();
    else return Entered<L>::enter(), true;
  }
};

template <class W>
void add(std::vector<Turn>& turns) {
  using P = Native<W>;
  constexpr bool oversubscribes = !std::is_same_v<W, Spin>;
  const auto named = [](std::string_view name) { return std::string(name) + ", " + W::name; };
  const auto add_lock = [&]<class E>() {
    using L = timed_form<typename E::Lock>;
    if constexpr (W::sleeps && !E::properties.parkable) return;
    else if constexpr (TimedLock<L>) turns.push_back({named(E::name), oversubscribes, &run<Entered<L>, P>});
    else turns.push_back({named(E::name), oversubscribes, &run<Untimed<L>, P>});
  };
  for_each_entry(Locks<P>{}, add_lock);
  for_each_entry(Semaphores<P>{}, [&]<class E>() {
    turns.push_back({named(E::name), oversubscribes, &run<Permitted<typename E::Semaphore>, P>});
  });
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 7200;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : std::random_device{}();
  check::start(1, argv);
  std::vector<Turn> turns;
  for_each_policy(Policies{}, [&]<class W>() { add<W>(turns); });
  std::printf("%zu turns a round, %.0f s, seed %u\n", turns.size(), seconds, seed);
  std::mt19937 dice(seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const unsigned cpus = std::max(2u, std::thread::hardware_concurrency());
  std::uint64_t episodes = 0, done = 0;
  for (unsigned round = 1; passed() < seconds && check::failures == 0; ++round) {
    for (const auto& turn : turns) {
      if (passed() >= seconds || check::failures != 0) break;
      const unsigned threads = turn.oversubscribes ? 2 + dice() % 31 : 2 + dice() % (cpus - 1);
      check::step(turn.name, std::to_string(threads), "threads, round", std::to_string(round), "seed",
                  std::to_string(seed));
      episodes += turn.run(threads, std::chrono::milliseconds(50 + dice() % 200), static_cast<unsigned>(dice()));
      ++done;
    }
    std::printf("%6.0f s  round %u, %llu turns, %llu episodes\n", passed(), round,
                static_cast<unsigned long long>(done), static_cast<unsigned long long>(episodes));
    std::fflush(stdout);
  }
  return check::result();
}
