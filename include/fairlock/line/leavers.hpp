// SPDX-License-Identifier: Apache-2.0
// Leavers: the domain's table of waiters that left a line before their turn. The line goes on without them.
//
//   the waiter has   key                     value
//   a ticket         the line's identity     the ticket; `serial` is the serial number of the thread that left
//   a hapax          the hapax               the hapax for which the leaver waited
//
//   field      holds                                                  written by
//   state      version * 4 + free, busy, full or pinned               the thread that fills, pins or empties the entry
//   leavers    how many entries there are, or a few more              a leaver (before it puts its entry), the thread
//                                                                     that removes the entry (afterwards)
//   reserved   entries that are in use, or reserved by waiters        timed waiters
//   reach      the largest distance of an entry from its home so      a leaver that puts an entry further away
//              far; never shrinks
//
// A timed waiter reserves an entry before it arrives, so that it can leave at any time. If every entry is reserved, the
// waiter waits outside the line until one is free, and tries the lock now and then. It loses its turn, and nothing
// else.
//
// An entry is removed once, by the thread that changes its state. The version distinguishes it from a later entry in
// the same place.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/detail/hash.hpp>
#include <fairlock/platform/domain.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class Leavers {
  using Entry = typename std::remove_reference_t<decltype(P::domain())>::LeaverEntry;

 public:
  // What a thread saw in an entry.
  struct Snapshot {
    Entry* entry;
    std::uint64_t state;
    std::uint64_t value;
    std::uint64_t serial;
  };

  // --- reservations ---

  // True: the thread has a reservation. False: entered() returned true first, or `until` came.
  template <Until U, class F>
  static bool reserve_unless(const F& entered, const U& until) {
    while (!entered()) {
      if (try_reserve()) return true;
      if (!wait_for_room(until)) return false;
    }
    return false;
  }

  static void give_up_reservation() {
    auto& reserved = P::domain().reserved;
    // Wake the threads that wait for room only if there was none.
    if (!room(reserved.fetch_add(~std::uint64_t{0}, order::relaxed))) [[unlikely]]
      P::signal(P::key(&reserved));
  }

  // --- entries: a thread reserves before it puts one, and gives up a reservation after it removes one ---

  // Whether there may be an entry. If the answer after a fence is no, every later leaver sees what we wrote before it.
  static bool any() { return P::domain().leavers.load(order::acquire) != 0; }

  static Snapshot put(std::uint64_t key, std::uint64_t value, std::uint64_t serial) {
    P::domain().leavers.fetch_add(1, order::relaxed);
    for (std::uint32_t distance = 0;; ++distance) {  // ends, because the reservation leaves an entry free
      auto& entry = at(key, distance);
      const auto state = entry.state.load(order::relaxed);
      if ((state & 3) != free_entry || !entry.state.cas(state, state | busy_entry, order::acquire)) continue;
      extend_reach(distance % P::options().leavers + 1);
      entry.key.store(key, order::relaxed);
      entry.value.store(value, order::relaxed);
      entry.serial.store(serial, order::relaxed);
      entry.state.store(state | full_entry, order::release);
      return {&entry, state | full_entry, value, serial};
    }
  }

  // The first entry of the key that matches. Waits while such an entry is pinned.
  template <class C>
  static std::optional<Snapshot> find(std::uint64_t key, const C& matches) {
    if (!any()) return std::nullopt;
    const auto reach = P::domain().reach.load(order::acquire);
    for (std::uint32_t distance = 0; distance < reach; ++distance) {
      auto& entry = at(key, distance);
      for (;;) {
        const auto state = entry.state.load(order::acquire);
        if ((state & 3) < full_entry || entry.key.load(order::relaxed) != key) break;
        const Snapshot seen{&entry, state, entry.value.load(order::relaxed), entry.serial.load(order::relaxed)};
        if (!matches(seen)) break;  // if the place holds another entry by now, removing this one will fail
        if ((state & 3) == full_entry) return seen;
        P::await(entry.state, [=](auto now) { return now != state; }, order::relaxed);
      }
    }
    return std::nullopt;
  }

  // False: another thread was faster.
  static bool remove(const Snapshot& seen) {
    if (!seen.entry->state.cas(seen.state, (seen.state | 3) + 1, order::acq_rel)) return false;
    P::domain().leavers.fetch_add(~std::uint64_t{0}, order::relaxed);
    return true;
  }

  // Pin an entry, so that other threads wait instead of removing it, until the caller unpins or removes it. False:
  // another thread was faster.
  static bool pin(Snapshot& seen) {
    const auto full = seen.state;
    seen.state = full | pinned_entry;
    return seen.entry->state.cas(full, seen.state, order::acq_rel);
  }
  static void unpin(const Snapshot& seen) { P::publish(seen.entry->state, seen.state ^ pinned_entry ^ full_entry); }
  static void remove_pinned(const Snapshot& seen) {
    P::publish(seen.entry->state, (seen.state | 3) + 1);
    P::domain().leavers.fetch_add(~std::uint64_t{0}, order::relaxed);
  }

 private:
  enum : std::uint64_t { free_entry = 0, busy_entry = 1, full_entry = 2, pinned_entry = 3 };

  static bool try_reserve() {
    if (room(P::domain().reserved.fetch_add(1, order::relaxed))) return true;
    give_up_reservation();
    return false;
  }

  // Wait for room, but for a millisecond at most, because the lock may become free before there is room. False: `until`
  // has come.
  template <Until U>
  static bool wait_for_room(const U& until) {
    auto& reserved = P::domain().reserved;
    const auto has_room = [most = P::options().leavers](std::uint64_t now) { return now < most; };
    const auto limit = P::within(until, 1'000'000);
    return P::await_until(reserved, has_room, limit, order::relaxed, P::key(&reserved)) || !P::over(until);
  }

  static bool room(std::uint64_t reserved) { return reserved < P::options().leavers; }

  static Entry& at(std::uint64_t key, std::uint32_t distance) {
    return P::domain().leaver_table[(mix(key) + distance) % P::options().leavers];
  }

  static void extend_reach(std::uint32_t needed) {
    auto& reach = P::domain().reach;
    auto now = reach.load(order::relaxed);
    while (now < needed && !reach.compare_exchange(now, needed, order::release)) {}
  }
};

}  // namespace v0
}  // namespace fairlock
