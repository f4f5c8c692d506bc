// SPDX-License-Identifier: Apache-2.0
// In a debug build, misuse ends the program with the lock's name. In a release build, a mutex is trivial instead. In
// both, all-zero memory is an unlocked lock.
#include <cstring>

#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/check.hpp"

using namespace fairlock;

namespace {

[[maybe_unused]] void misuse(const AnyLock& kind) {
  const std::string name = "fairlock: lock '" + std::string(kind.properties.name) + "' ";
  check::step(kind.name, "released while not held");
  const auto never_held = check::in_child([&] { Lockable(kind).unlock(); });
  CHECK(never_held.aborted_saying(name + "was released while not held"));
  const auto released_twice = check::in_child([&] {
    Lockable mutex(kind);
    mutex.lock();
    mutex.unlock();
    mutex.unlock();
  });
  CHECK(released_twice.aborted_saying(name + "was released while not held"));

  check::step(kind.name, "destroyed while held");
  const auto destroyed = check::in_child([&] {
    Lockable mutex(kind);
    mutex.lock();
  });
  CHECK(destroyed.aborted_saying(name + "was destroyed while held"));

  check::step(kind.name, "used correctly");
  const auto used_correctly = check::in_child([&] {
    Lockable mutex(kind);
    mutex.lock();
    mutex.unlock();
  });
  CHECK(used_correctly.signal == 0 && used_correctly.status == 0 && used_correctly.message.empty());
}

// The bytes are zero and no constructor runs.
void zeroed(const AnyLock& kind) {
  check::step(kind.name, "in zeroed memory");
  void* const lock = operator new(kind.size, std::align_val_t(kind.alignment));
  void* const mutex = operator new(kind.mutex_size, std::align_val_t(kind.mutex_alignment));
  std::memset(lock, 0, kind.size);
  std::memset(mutex, 0, kind.mutex_size);
  CHECK(!kind.locked(lock));
  if (kind.try_lock) {
    AnyLock::Episode episode;
    if (CHECK(kind.try_acquire(lock, episode))) kind.release(lock, episode);
    if (CHECK(kind.mutex_try_lock(mutex))) kind.mutex_unlock(mutex);
  }
  unsigned inside = 0;
  const unsigned rounds = check::rounds(100);
  check::together(2, [&](unsigned) {
    for (unsigned n = 0; n < rounds; ++n) {
      const auto episode = kind.acquire(lock);
      kind.mutex_lock(mutex);
      ++inside;
      kind.mutex_unlock(mutex);
      kind.release(lock, episode);
    }
  });
  CHECK(inside == 2 * rounds);
  CHECK(!kind.locked(lock));
  if (!kind.trivial_lock) kind.destroy(lock), kind.mutex_destroy(mutex);
  operator delete(lock, std::align_val_t(kind.alignment));
  operator delete(mutex, std::align_val_t(kind.mutex_alignment));
}

// A thread beyond the limit of the lock must not share the flag of another thread, not even in a release build.
void anderson() {
  check::step("anderson: one thread too many");
  constexpr auto message = "fairlock: anderson: more threads in line than the lock was made for";
  const auto alone = check::in_child([] {
    AndersonLock<Native<>, AndersonOptions{.threads = 1}> lock;
    for (int n = 0; n < 3; ++n) lock.release(lock.acquire());
    lock.acquire();
    lock.acquire();
  });
  CHECK(alone.aborted_saying(message));
  const auto three = check::in_child([] {
    AndersonLock<Native<>, AndersonOptions{.threads = 2}> lock;
    lock.acquire();
    std::thread a([&] { lock.acquire(); }), b([&] { lock.acquire(); });
    a.join(), b.join();
  });
  CHECK(three.aborted_saying(message));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  anderson();
  for (const AnyLock& kind : every_lock()) {
    if constexpr (debug) misuse(kind);
    else CHECK(kind.trivial_mutex == (kind.properties.name != std::string_view("clh")));
    zeroed(kind);
  }
  return check::result();
}
