// SPDX-License-Identifier: Apache-2.0
// Capacitors: over every lock of the catalogue; their random numbers; and a thread that abandons the inner lock still
// departs.
#include <fairlock/fairlock.hpp>

#include "support/replay.hpp"

using namespace fairlock;

namespace {

template <class L>
void wraps(std::string_view name) {
  using Wrapped = SimplyWrapped<Native<>, L, CapacitorOptions{.platoon = 3}>;
  static_assert(EpisodicLock<Wrapped> && TryLock<Wrapped> == TryLock<L>);
  static_assert(std::is_trivially_destructible_v<Wrapped> == std::is_trivially_destructible_v<L>);
  check::step("over", name);
  Wrapped lock{};
  Replay replay;
  const unsigned threads = L::properties.max_threads == 2 ? 2 : 4, rounds = check::rounds(500);
  check::together(threads, [&](unsigned) {
    for (unsigned n = 0; n < rounds; ++n) with(lock, [&] { replay.advance(); });
  });
  CHECK(replay.agrees(std::uint64_t{threads} * rounds));
  CHECK(!lock.locked());
}

void dice() {
  check::step("chance");
  constexpr unsigned rolls = 100'000;
  const auto often = [](Chance c) {
    unsigned times = 0;
    for (unsigned n = 0; n < rolls; ++n) times += Native<>::chance(c);
    return times;
  };
  CHECK(often({0, 1}) == 0 && often({7, 7}) == rolls);
  // Five standard deviations are 157 and 791.
  CHECK(often({99, 100}) > rolls * 99 / 100 - 200 && often({99, 100}) < rolls * 99 / 100 + 200);
  CHECK(often({1, 2}) > rolls / 2 - 800 && often({1, 2}) < rolls / 2 + 800);
}

template <class L>
void abandoned() {
  check::step("abandoned,", L::properties.name);
  constexpr CapacitorOptions two{.platoon = 2};
  SimplyWrapped<Native<>, L, two> lock{};
  static_assert(TimedLock<decltype(lock)> && !TimedLock<SimplyWrapped<Native<>, McsLock<Native<>>, two>>);
  const auto mine = lock.acquire();
  // It arrives at the capacitor and abandons the inner lock, so it uses up a place of the platoon.
  CHECK(!lock.acquire_until(Deadline{0}));
  CHECK(!lock.acquire_until(Deadline{0}));  // it does not arrive: the platoon waits for its owner
  lock.release(mine);
  CHECK(!lock.locked());
  for (int n = 0; n < 3; ++n) {  // the last member to depart opens the capacitor again
    const auto again = lock.acquire_until(Deadline{never});
    CHECK(again && !lock.acquire_until(Deadline{0}));
    lock.release(*again);
  }
  CHECK(!lock.locked());
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  dice();
  abandoned<TtsLock<Native<>>>();
  abandoned<ClhLock<Native<>>>();
  for_each_entry(Locks<Native<>>{}, []<class E>() {
    if constexpr (E::properties.parkable) wraps<typename E::Lock>(E::name);
  });
  return check::result();
}
