// SPDX-License-Identifier: Apache-2.0
// Locks when memory runs out. Releasing a lock allocates nothing, whichever thread releases it, and whatever that
// thread did before. An acquire that needs memory and gets none throws std::bad_alloc and leaves the lock unchanged.
//
// While `starved` is set, the thread's allocations fail. Registering a thread-local destructor counts as an allocation:
// glibc allocates memory for it, and aborts if it gets none.
#include <new>

#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/check.hpp"

using namespace fairlock;

namespace {

thread_local bool starved = false;
std::atomic<unsigned> registrations_while_starved{0};

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  return starved ? nullptr : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

class Starved {
 public:
  Starved() { starved = true; }
  ~Starved() { starved = false; }
};

}  // namespace

// Not inlined: GCC would warn that operator delete frees what aligned_alloc() returned.
[[gnu::noinline]] void* operator new(std::size_t size) { return allocate_or_throw(size, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" int __cxa_thread_atexit_impl(void (*destructor)(void*), void* object, void* library);
extern "C" int __cxa_thread_atexit(void (*destructor)(void*), void* object, void* library) noexcept {
  if (starved) registrations_while_starved.fetch_add(1);
  return __cxa_thread_atexit_impl(destructor, object, library);
}

namespace {

template <class F>
void on_a_new_thread(const F& work) {
  std::thread(work).join();
}

// Whether the work threw std::bad_alloc.
template <class F>
bool throws_bad_alloc(const F& work) {
  const Starved now;
  try {
    work();
  } catch (const std::bad_alloc&) { return true; }
  return false;
}

void expect_usable(Lock& lock) {
  CHECK(!lock.locked());
  on_a_new_thread([&] { lock.with([] {}); });
  CHECK(!lock.locked());
}

// --- release ---

void released_by_its_owner(const AnyLock& kind) {
  check::step(kind.name, "released by its owner");
  Lock lock(kind);
  // The second time, CLH gives back the node that the first release left with the lock.
  for (int n = 0; n < 2; ++n)
    on_a_new_thread([&] {
      const auto episode = lock.acquire();
      CHECK(!throws_bad_alloc([&] { lock.release(episode); }));
    });
  expect_usable(lock);
}

void released_by_another_thread(const AnyLock& kind) {
  check::step(kind.name, "released by a thread that never acquired a lock");
  Lock lock(kind);
  lock.with([] {});
  const auto episode = lock.acquire();
  on_a_new_thread([&] { CHECK(!throws_bad_alloc([&] { lock.release(episode); })); });
  expect_usable(lock);
}

// A thread-local object that is constructed before the thread first uses a lock is destroyed after the
// spare elements of the thread. An object that is constructed later is destroyed before them.
struct AtExit {
  Lock* lock = nullptr;
  ~AtExit() {
    if (lock == nullptr) return;
    for (int n = 0; n < 2; ++n) {
      const auto episode = lock->acquire();
      CHECK(!throws_bad_alloc([&] { lock->release(episode); }));
    }
  }
};

void released_at_thread_exit(const AnyLock& kind) {
  for (const bool used_before : {true, false}) {
    check::step(kind.name, "released at thread exit,", used_before ? "used before" : "not used before");
    Lock lock(kind);
    on_a_new_thread([&] {
      static thread_local AtExit last;
      last.lock = &lock;
      if (used_before) lock.with([] {});
      static thread_local AtExit first;
      first.lock = &lock;
    });
    expect_usable(lock);
  }
}

// --- acquire ---

// More tries than a platoon has places: if each try lost a place, the capacitor would close for ever.
constexpr unsigned tries = 25;

void acquired_without_memory(const AnyLock& kind) {
  check::step(kind.name, "acquired without memory");
  Lock lock(kind);
  const auto attempt = [&](bool by_try) {
    bool entered = false;
    AnyLock::Episode episode;
    const bool threw = throws_bad_alloc([&] {
      if (by_try) entered = lock.try_acquire(episode);
      else episode = lock.acquire(), entered = true;
    });
    CHECK(!threw || kind.properties.allocates);
    CHECK(threw || entered);
    CHECK(lock.locked() == entered);
    if (entered) CHECK(!throws_bad_alloc([&] { lock.release(episode); }));
  };
  for (unsigned n = 0; n < tries; ++n) {
    on_a_new_thread([&] { attempt(false); });
    if (kind.try_lock) on_a_new_thread([&] { attempt(true); });
  }
  expect_usable(lock);
}

void acquired_without_memory_while_held(const AnyLock& kind) {
  if (!kind.properties.allocates) return;
  check::step(kind.name, "held, and acquired without memory");
  Lock lock(kind);
  const auto held = lock.acquire();
  // The owner has one place of its platoon. When the other places are used up, an arrival waits for the owner.
  const unsigned places = kind.properties.platoon == 0 ? tries : kind.properties.platoon - 1;
  for (unsigned n = 0; n < places; ++n)
    on_a_new_thread([&] { CHECK(throws_bad_alloc([&] { lock.release(lock.acquire()); })); });
  lock.release(held);
  expect_usable(lock);
}

// Waiting for a lock that does not allocate takes no memory.
void waited_for_without_memory(const AnyLock& kind) {
  if (kind.properties.allocates || !kind.suits(4)) return;
  check::step(kind.name, "waited for without memory");
  Lock lock(kind);
  std::atomic<unsigned> here{0};
  on_a_new_thread([&] {
    const auto held = lock.acquire();
    std::vector<std::thread> waiters;
    for (int n = 0; n < 3; ++n)
      waiters.emplace_back([&] {
        here.fetch_add(1);
        CHECK(!throws_bad_alloc([&] { lock.release(lock.acquire()); }));
      });
    check::wait_until([&] { return here == 3; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that most of them stand in line
    CHECK(!throws_bad_alloc([&] { lock.release(held); }));
    for (auto& waiter : waiters) waiter.join();
  });
  expect_usable(lock);
}

// --- waiters that sleep ---

// A waiter that is about to sleep may be woken before any thread of the process has slept.
void first_unpark() {
  check::step("the first use of portable parking");
  const std::atomic<std::uint32_t> word{0};
  CHECK(!throws_bad_alloc([&] { PortableParking::unpark(&word); }));
}

// A thread that never acquired a lock releases this one, and wakes its waiter.
template <class L>
void wakes_its_waiter() {
  check::step(L::properties.name, "wakes its waiter");
  L lock{};
  const auto held = lock.acquire();
  std::atomic<bool> here{false};
  std::thread waiter([&] {
    here = true;
    const auto episode = lock.acquire();
    CHECK(!throws_bad_alloc([&] { lock.release(episode); }));
  });
  check::wait_until([&] { return here.load(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  on_a_new_thread([&] { CHECK(!throws_bad_alloc([&] { lock.release(held); })); });
  waiter.join();
  CHECK(!lock.locked());
}

template <class W>
void every_kind_of_wait() {
  using P = Native<W>;
  wakes_its_waiter<TtsLock<P>>();
  wakes_its_waiter<TicketLock<P>>();
  wakes_its_waiter<timed_form<TwaLock<P>>>();
  wakes_its_waiter<TidexLock<P, TidexOptions{.identity = Identity::episode}>>();
  wakes_its_waiter<HapaxLock<P>>();
  wakes_its_waiter<HapaxVwLock<P>>();
  wakes_its_waiter<McsLock<P>>();
  wakes_its_waiter<ClhLock<P>>();
  wakes_its_waiter<Hemlock<P, HemlockOptions{.elements = Elements::per_episode}>>();
  wakes_its_waiter<ReciprocatingLock<P, ReciprocatingOptions{.elements = Elements::per_episode}>>();
  wakes_its_waiter<FairLock<P>>();
  wakes_its_waiter<lock_named<P, "capacitor-mcs">>();
}

// --- semaphores, and conditions ---

template <class W>
void semaphores() {
  for_each_entry(Semaphores<Native<W>>{}, []<class E>() {
    check::step(E::name, W::name);
    typename E::Semaphore semaphore(0);
    std::thread waiter([&] { CHECK(!throws_bad_alloc([&] { semaphore.acquire(); })); });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    on_a_new_thread([&] { CHECK(!throws_bad_alloc([&] { semaphore.release(2); })); });
    waiter.join();
    CHECK(semaphore.value() == 1);
  });
}

// A wait releases the lock and acquires it again: the acquire reuses the element that the release gave back.
template <class W>
void conditions() {
  using P = Native<W>;
  check::step("a condition over mcs,", W::name);
  McsLock<P> lock{};
  Condition<P> condition;
  on_a_new_thread([&] {
    auto episode = lock.acquire();
    CHECK(!throws_bad_alloc([&] { CHECK(!condition.wait_until(lock, episode, Deadline{0})); }));
    CHECK(lock.locked());
    lock.release(episode);
  });
  std::atomic<bool> waits{false};
  std::thread waiter([&] {
    auto episode = lock.acquire();
    waits = true;
    CHECK(!throws_bad_alloc([&] { condition.wait(lock, episode); }));
    lock.release(episode);
  });
  check::wait_until([&] { return waits && condition.waited_for(); });
  on_a_new_thread([&] { CHECK(!throws_bad_alloc([&] { CHECK(condition.notify_all() == 1); })); });
  waiter.join();
  CHECK(!lock.locked());
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  check::step("the test itself");
  CHECK(throws_bad_alloc([] { ::operator delete(::operator new(1)); }));
  CHECK(throws_bad_alloc([] { ::operator delete(::operator new(256, std::align_val_t(128))); }));
  {
    const Starved now;
    CHECK(::operator new(1, std::nothrow) == nullptr);
  }
  for (const AnyLock& kind : every_lock()) {
    released_by_its_owner(kind);
    if (kind.properties.thread_oblivious) released_by_another_thread(kind);
    released_at_thread_exit(kind);
    acquired_without_memory(kind);
    acquired_without_memory_while_held(kind);
    waited_for_without_memory(kind);
  }
  first_unpark();
  every_kind_of_wait<BasicPark<PortableParking>>();
  every_kind_of_wait<SpinThenPark>();
  semaphores<Yield>();
  semaphores<SpinThenPark>();
  semaphores<BasicPark<PortableParking>>();
  conditions<Yield>();
  conditions<SpinThenPark>();
  check::step("thread-local destructors");
  CHECK(registrations_while_starved == 0);
  return check::result();
}
