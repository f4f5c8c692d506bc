// SPDX-License-Identifier: Apache-2.0
// Two shared objects and the program that uses them share locks. Each of the three includes fairlock's headers.
#pragma once

#include <array>

#include "../support/replay.hpp"
#include "library.hpp"

inline int share_locks(const Library& a, const Library& b, const Library& program) {
  check::step("addresses");
  CHECK(a.domain == b.domain && a.domain == program.domain);
  CHECK(a.slots == b.slots && a.slots == program.slots && a.slots != a.domain);
  CHECK(a.control != b.control && a.control != program.control && b.control != program.control);
  CHECK(a.locks != b.locks && a.locks != program.locks);
  if (check::failures != 0) return check::result();  // the later steps would only hang

  const std::array users{&a, &b, &program};
  for (std::size_t which = 0; which < program.count; ++which) {
    const AnyLock& kind = program.locks[which];
    const auto via = [&](unsigned user) -> const AnyLock& { return users[user % users.size()]->locks[which]; };
    void* const lock = operator new(kind.size, std::align_val_t(kind.alignment));

    // Six threads, two in each library, so that far waiters use the waiting arrays.
    check::step(kind.name, "in threads of three libraries");
    Replay replay;
    kind.construct(lock);
    check::together(6, [&](unsigned i) {
      for (unsigned n = check::rounds(500); n > 0; --n) {
        const auto episode = via(i).acquire(lock);
        replay.advance();
        via(i).release(lock, episode);
      }
    });
    CHECK(replay.agrees(std::uint64_t{6} * check::rounds(500)));

    // Each thread moves from library to library. It acquires in one library and releases in another, unless the lock's
    // elements belong to the thread.
    check::step(kind.name, "acquired in one library and released in another");
    const bool crossing = kind.properties.name != std::string_view("hemlock");
    check::together(4, [&](unsigned i) {
      for (unsigned n = check::rounds(300); n > 0; --n) {
        const auto episode = via(i + n).acquire(lock);
        replay.advance();
        via(i + n + (crossing ? n % 3 : 0)).release(lock, episode);
      }
    });
    CHECK(replay.agrees(std::uint64_t{6} * check::rounds(500) + std::uint64_t{4} * check::rounds(300)));
    kind.destroy(lock);
    operator delete(lock, std::align_val_t(kind.alignment));
  }
  return check::result();
}
