// The originals: what glibc has under the names that we replace. For the kinds that cannot be replaced, and for those who mix them.
//
// Looked up when first called, and without a lock: other libraries lock mutexes in their constructors, before ours has run. Two
// threads may look up the same name at once, and find the same.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace fairlock::preload {

template <class F>
class Original {
 public:
  constexpr explicit Original(const char* name) : name_(name) {}

  template <class... A>
  auto operator()(A... arguments) {
    F* function = found_.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]] function = find();
    return function(arguments...);
  }

 private:
  [[gnu::cold, gnu::noinline]] F* find() {
    // Condition variables have an older version too, which an older glibc gives to whoever names none. Where there is but one
    // version it has another name, and dlsym finds it.
    void* address = dlvsym(RTLD_NEXT, name_, "GLIBC_2.3.2");
    if (address == nullptr) address = dlsym(RTLD_NEXT, name_);
    if (address == nullptr) {
      std::fprintf(stderr, "fairlock: no %s behind this library: is it preloaded, and is there a glibc?\n", name_);
      std::abort();
    }
    const auto function = reinterpret_cast<F*>(address);
    found_.store(function, std::memory_order_relaxed);
    return function;
  }

  const char* const name_;
  std::atomic<F*> found_{nullptr};
};

namespace glibc {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // which arguments may be null: not part of a type
#define FAIRLOCK_ORIGINAL(name) inline constinit Original<decltype(::name)> name{#name}
FAIRLOCK_ORIGINAL(pthread_mutex_init);
FAIRLOCK_ORIGINAL(pthread_mutex_destroy);
FAIRLOCK_ORIGINAL(pthread_mutex_lock);
FAIRLOCK_ORIGINAL(pthread_mutex_trylock);
FAIRLOCK_ORIGINAL(pthread_mutex_timedlock);
FAIRLOCK_ORIGINAL(pthread_mutex_clocklock);
FAIRLOCK_ORIGINAL(pthread_mutex_unlock);
FAIRLOCK_ORIGINAL(pthread_cond_init);
FAIRLOCK_ORIGINAL(pthread_cond_destroy);
FAIRLOCK_ORIGINAL(pthread_cond_signal);
FAIRLOCK_ORIGINAL(pthread_cond_broadcast);
FAIRLOCK_ORIGINAL(pthread_cond_wait);
FAIRLOCK_ORIGINAL(pthread_cond_timedwait);
FAIRLOCK_ORIGINAL(pthread_cond_clockwait);
FAIRLOCK_ORIGINAL(sem_init);
FAIRLOCK_ORIGINAL(sem_destroy);
FAIRLOCK_ORIGINAL(sem_wait);
FAIRLOCK_ORIGINAL(sem_trywait);
FAIRLOCK_ORIGINAL(sem_timedwait);
FAIRLOCK_ORIGINAL(sem_clockwait);
FAIRLOCK_ORIGINAL(sem_post);
FAIRLOCK_ORIGINAL(sem_getvalue);
#undef FAIRLOCK_ORIGINAL
#pragma GCC diagnostic pop
}  // namespace glibc

}  // namespace fairlock::preload
