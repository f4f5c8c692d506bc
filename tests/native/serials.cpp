// SPDX-License-Identifier: Apache-2.0
// A serial number belongs to one thread for ever. No later thread gets it, even after 2^32 threads.
#include <concepts>
#include <set>

#include <fairlock/fairlock.hpp>
#include <fairlock/line/leavers.hpp>

#include "support/check.hpp"

using namespace fairlock;

namespace {

using P = Native<Yield, DomainOptions{.slots = 16, .leavers = 8, .threads = 16}>;  // a domain of this test's own
static_assert(std::same_as<decltype(P::serial()), std::uint64_t>);
static_assert(std::same_as<decltype(Leavers<P>::Snapshot::serial), std::uint64_t>);

constexpr std::uint64_t wrap = std::uint64_t{1} << 32;

std::uint64_t serial_of_a_new_thread() {
  std::uint64_t serial = 0;
  std::thread([&] {
    serial = P::serial();
    CHECK(P::serial() == serial);
  }).join();
  return serial;
}

void around_32_bits() {
  check::step("serial numbers around 2^32");
  std::set<std::uint64_t> seen;
  const auto note = [&](std::uint64_t serial) {
    CHECK(serial != 0);
    CHECK(seen.insert(serial).second);
  };
  for (int n = 0; n < 4; ++n) note(serial_of_a_new_thread());
  P::domain().serials.store(wrap - 3, order::relaxed);
  for (int n = 0; n < 10; ++n) note(serial_of_a_new_thread());
  CHECK(*seen.begin() < wrap && *seen.rbegin() > wrap);
}

// A thread leaves an entry behind and ends. No later thread mistakes the entry for its own, even 2^32 threads later.
void an_entry_of_an_ended_thread() {
  check::step("the entry of a thread that ended");
  const int line = 0;
  const auto key = P::identity(&line);
  const auto own_entry = [&] {
    return Leavers<P>::find(key, [serial = P::serial()](const auto& entry) { return entry.serial == serial; });
  };
  for (const std::uint64_t later : {std::uint64_t{1}, wrap}) {
    std::uint64_t first = 0;
    std::thread([&] {
      first = P::serial();
      CHECK(Leavers<P>::reserve_unless([] { return false; }, Forever{}));
      Leavers<P>::put(key, 7, first);
      CHECK(own_entry().has_value());
    }).join();
    P::domain().serials.store(first + later - 1, order::relaxed);
    std::thread([&] {
      CHECK(P::serial() == first + later);
      CHECK(!own_entry().has_value());
    }).join();
    const auto entry = Leavers<P>::find(key, [](const auto&) { return true; });
    if (CHECK(entry && entry->serial == first && Leavers<P>::remove(*entry))) Leavers<P>::give_up_reservation();
  }
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  around_32_bits();
  an_entry_of_an_ended_thread();
  return check::result();
}
