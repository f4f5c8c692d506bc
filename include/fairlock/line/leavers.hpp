// SPDX-License-Identifier: Apache-2.0
// Left: the domain's table of those who abandoned a line that goes on without them.
//
//   who leaves      key                     value
//   a ticket        the line's identity     the ticket; `serial` is the thread that left it
//   a hapax         the hapax               the hapax that it waited for
//
//   field      holds                                                  written by
//   state      version * 4 + free, busy, full or pinned               whoever fills, pins or empties the entry
//   leavers    how many entries there are, or a few more              those who leave (before they put), those who remove (after)
//   reserved   entries that are in use, or may be by those who wait   timed waiters
//   reach      how far from its home any entry ever lay               whoever puts one further away; never shrinks
//
// A timed waiter reserves its entry before it stands in line, so that it can leave at any time. When every entry is
// reserved it waits at the door, outside the line, for one to become free, and tries the lock now and then: it loses
// its right to be served in turn, and nothing else. An entry is removed once, by whoever changes its state: the version
// tells it from a later entry of the same place.
#pragma once

#include <cstdint>
#include <optional>

#include <fairlock/detail/hash.hpp>
#include <fairlock/platform/domain.hpp>
#include <fairlock/until.hpp>

namespace fairlock {
inline namespace v0 {

template <Platform P>
class Left {
  using Entry = typename std::remove_reference_t<decltype(P::domain())>::LeftEntry;

 public:
  struct Found {
    Entry* entry;
    std::uint64_t state;  // as it was
    std::uint64_t value;
    std::uint64_t serial;
  };

  // --- room ---

  // True: there is a reservation. False: entered() said so before there was one, or `until` came.
  template <Until U, class F>
  static bool reserve_unless(const F& entered, const U& until) {
    while (!entered()) {
      if (try_reserve()) return true;
      if (!wait_at_the_door(until)) return false;
    }
    return false;
  }

  static void give_up_reservation() {
    auto& reserved = P::domain().reserved;
    // Only whoever makes room wakes those at the door.
    if (!room(reserved.fetch_add(~std::uint64_t{0}, order::relaxed))) [[unlikely]]
      P::signal(P::key(&reserved));
  }

  // --- entries; whoever puts one has reserved it, and whoever removes one has a reservation to give up ---

  // After a fence, false means that whoever leaves from now on sees what we wrote before it.
  static bool anyone() { return P::domain().leavers.load(order::acquire) != 0; }

  static Found put(std::uint64_t key, std::uint64_t value, std::uint64_t serial) {
    P::domain().leavers.fetch_add(1, order::relaxed);
    for (std::uint32_t distance = 0;; ++distance) {  // ends: fewer entries are in use than there are
      auto& entry = at(key, distance);
      const auto state = entry.state.load(order::relaxed);
      if ((state & 3) != free_entry || !entry.state.cas(state, state | busy_entry, order::acquire)) continue;
      extend_reach(distance % P::options().left + 1);
      entry.key.store(key, order::relaxed);
      entry.value.store(value, order::relaxed);
      entry.serial.store(serial, order::relaxed);
      entry.state.store(state | full_entry, order::release);
      return {&entry, state | full_entry, value, serial};
    }
  }

  // The first entry of the key that matches. Waits while such an entry is pinned.
  template <class C>
  static std::optional<Found> find(std::uint64_t key, const C& matches) {
    if (!anyone()) return std::nullopt;
    const auto reach = P::domain().reach.load(order::acquire);
    for (std::uint32_t distance = 0; distance < reach; ++distance) {
      auto& entry = at(key, distance);
      for (;;) {
        const auto state = entry.state.load(order::acquire);
        if ((state & 3) < full_entry || entry.key.load(order::relaxed) != key) break;
        const Found found{&entry, state, entry.value.load(order::relaxed), entry.serial.load(order::relaxed)};
        if (!matches(found)) break;  // if the entry is another by now, to remove it will fail
        if ((state & 3) == full_entry) return found;
        P::await(entry.state, [=](auto now) { return now != state; }, order::relaxed);
      }
    }
    return std::nullopt;
  }

  // False: somebody else was faster.
  static bool remove(const Found& found) {
    if (!found.entry->state.cas(found.state, (found.state | 3) + 1, order::acq_rel)) return false;
    P::domain().leavers.fetch_add(~std::uint64_t{0}, order::relaxed);
    return true;
  }

  // While it is pinned, nobody else removes it, and whoever wants to, waits; then unpin or remove.
  static bool pin(Found& found) {
    const auto full = found.state;
    found.state = full | pinned_entry;
    return found.entry->state.cas(full, found.state, order::acq_rel);
  }
  static void unpin(const Found& found) { P::publish(found.entry->state, found.state ^ pinned_entry ^ full_entry); }
  static void remove_pinned(const Found& found) {
    P::publish(found.entry->state, (found.state | 3) + 1);
    P::domain().leavers.fetch_add(~std::uint64_t{0}, order::relaxed);
  }

 private:
  enum : std::uint64_t { free_entry = 0, busy_entry = 1, full_entry = 2, pinned_entry = 3 };

  static bool try_reserve() {
    if (room(P::domain().reserved.fetch_add(1, order::relaxed))) return true;
    give_up_reservation();
    return false;
  }

  // Waits for room, or a while; false: `until` has come. The while, because the lock may become free before there is
  // room.
  template <Until U>
  static bool wait_at_the_door(const U& until) {
    auto& reserved = P::domain().reserved;
    const auto has_room = [most = P::options().left](std::uint64_t now) { return now < most; };
    return P::await_until(reserved, has_room, P::soon(until), order::relaxed, P::key(&reserved)) || !P::over(until);
  }

  static bool room(std::uint64_t reserved) { return reserved < P::options().left; }

  static Entry& at(std::uint64_t key, std::uint32_t distance) {
    return P::domain().left[(mix(key) + distance) % P::options().left];
  }

  static void extend_reach(std::uint32_t needed) {
    auto& reach = P::domain().reach;
    auto now = reach.load(order::relaxed);
    while (now < needed && !reach.compare_exchange(now, needed, order::release)) {}
  }
};

}  // namespace v0
}  // namespace fairlock
