// SPDX-License-Identifier: Apache-2.0
// A release does not touch the semaphore after it has published its permits, so a thread that gets one may destroy the
// semaphore at once. Here a waiter has left the head of the line, so the release must remove an entry from the table of
// leavers. The semaphore lies in a page that is unmapped while the release is delayed.
#include <sys/mman.h>

#include <functional>
#include <utility>

#include <fairlock/fairlock.hpp>

#include "support/check.hpp"
#include "support/hooked.hpp"

using namespace fairlock;
using namespace std::chrono_literals;

namespace {

struct HookedSleeping : Interrupted<Native<Park>, Hook> {};

template <class S>
struct SemaphoreInPage {
  SemaphoreInPage() : memory(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory == MAP_FAILED) std::abort();
    semaphore = new (memory) S(0);
  }
  void unmap() { munmap(memory, size); }

  static constexpr std::size_t size = (sizeof(S) + 4095) / 4096 * 4096;
  void* memory;
  S* semaphore;
};

template <class S>
void destroyed_by_the_thread_behind_a_leaver(std::uint64_t permits) {
  SemaphoreInPage<S> page;
  S& semaphore = *page.semaphore;
  const auto in_line = [&](std::int64_t n) { check::wait_until([&] { return semaphore.value() <= -n; }); };

  std::atomic<bool> published{false}, gone{false}, left{false};
  std::thread leaver([&] {
    Interrupt<Native<>> give_up;
    std::thread caller([&] {
      in_line(2);
      give_up.raise();
    });
    CHECK(!semaphore.acquire_until(Interruptible<Native<>>{give_up}));
    caller.join();
    left = true;
  });
  in_line(1);
  std::thread next([&] {
    semaphore.acquire();
    check::wait_until([&] { return published.load(); });
    page.unmap();
    gone = true;
  });
  check::wait_until([&] { return left.load(); });

  // Once the permits are published, the hook delays the release before each operation until the semaphore is gone. The
  // delay is bounded, because a waiter on a chain sleeps until the release wakes it.
  const auto before = semaphore.value();
  Hook::hook() = [&](Operation) {
    const auto hook = std::exchange(Hook::hook(), nullptr);
    if (!published) published = semaphore.value() != before;
    const auto end = steady_now() + 2'000'000;
    while (published && !gone && steady_now() < end) std::this_thread::yield();
    Hook::hook() = hook;
  };
  semaphore.release(permits);
  Hook::hook() = nullptr;
  published = true;
  leaver.join();
  next.join();
}

template <class P>
void every_semaphore(const char* policy) {
  for_each_entry(Semaphores<P>{}, [&]<class E>() {
    if constexpr (!E::properties.release_touches_lock && E::properties.order == Order::fifo) {
      for (const std::uint64_t permits : {2u, 3u}) {
        check::step(std::string(E::name), policy, "release", std::to_string(permits));
        for (unsigned i = check::rounds(20); i > 0; --i)
          destroyed_by_the_thread_behind_a_leaver<typename E::Semaphore>(permits);
      }
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  every_semaphore<Hooked>("yield");
  every_semaphore<HookedSleeping>("park");
  return check::result();
}
