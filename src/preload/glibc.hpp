// SPDX-License-Identifier: Apache-2.0
// The originals: what comes behind us under the names that we replace. For the kinds that cannot be replaced, and for
// those who mix them.
//
// Looked up when first called, and without a lock: other libraries lock mutexes in their constructors, before ours has
// run. Two threads may look up the same name at once, and find the same.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fairlock::preload {

template <class F>
class Original {
 public:
  constexpr explicit Original(const char* name) : name_(name) {}

  template <class... A>
  auto operator()(A... arguments) {
    F* function = found_.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]]
      function = find();
    return function(arguments...);
  }

  bool known() const { return found_.load(std::memory_order_relaxed) != nullptr; }

  [[gnu::cold, gnu::noinline]] F* find() {
    void* address = dlsym(RTLD_NEXT, name_);
    // Condition variables have an older version too, which an older glibc gives to whoever names none. Where there is
    // but one version, we do not ask: a search in vain would allocate its message, by a malloc that may just be locking
    // its first mutex.
    if (has_versions())
      if (void* const newer = dlvsym(RTLD_NEXT, name_, "GLIBC_2.3.2"); object(newer) == object(address))
        address = newer;
    if (address == nullptr) {
      std::fprintf(stderr, "fairlock: no %s behind this library: is it preloaded, and is there a glibc?\n", name_);
      std::abort();
    }
    const auto function = reinterpret_cast<F*>(address);
    found_.store(function, std::memory_order_relaxed);
    return function;
  }

 private:
  bool has_versions() const {
#ifdef __x86_64__
    const std::string_view name(name_);
    return name.starts_with("pthread_cond_") && name != "pthread_cond_clockwait";
#else
    return false;
#endif
  }

  static void* object(void* address) {  // where it begins
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
  }

  const char* const name_;
  std::atomic<F*> found_{nullptr};
};

namespace glibc {
// clang-format off: one entry a line
#define FAIRLOCK_ORIGINALS(each)                                                                                \
  each(pthread_mutex_init) each(pthread_mutex_destroy) each(pthread_mutex_lock) each(pthread_mutex_trylock)    \
  each(pthread_mutex_timedlock) each(pthread_mutex_clocklock) each(pthread_mutex_unlock)                       \
  each(pthread_cond_init) each(pthread_cond_destroy) each(pthread_cond_signal) each(pthread_cond_broadcast)    \
  each(pthread_cond_wait) each(pthread_cond_timedwait) each(pthread_cond_clockwait)                            \
  each(sem_init) each(sem_destroy) each(sem_wait) each(sem_trywait) each(sem_timedwait) each(sem_clockwait)    \
  each(sem_post) each(sem_getvalue) each(pthread_setcanceltype) each(mmap) each(shmat)
// clang-format on

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // which arguments may be null: not part of a type
#define FAIRLOCK_ORIGINAL(name) inline constinit Original<decltype(::name)> name{#name};
FAIRLOCK_ORIGINALS(FAIRLOCK_ORIGINAL)
#undef FAIRLOCK_ORIGINAL
#pragma GCC diagnostic pop

// When we are loaded: dlsym waits for a dlopen of another thread, whose constructors may wait for whoever calls us
// then.
inline void find_all() {
#define FAIRLOCK_FIND(name) name.find();
  FAIRLOCK_ORIGINALS(FAIRLOCK_FIND)
#undef FAIRLOCK_FIND
}
#undef FAIRLOCK_ORIGINALS

// A mutex of glibc's whose owner waits on a condition of ours. As if the condition were glibc's too, it stays among the
// mutex's users, so that nobody destroys the mutex meanwhile.
class Held {
 public:
  explicit Held(pthread_mutex_t* mutex) : mutex_(mutex), counts_(counts_users()) {}

  int unlock() const {
    mutex_->__data.__nusers += counts_;
    const int failed = pthread_mutex_unlock(mutex_);
    if (failed != 0) mutex_->__data.__nusers -= counts_;
    return failed;
  }
  int lock_again() const {
    const int failed = pthread_mutex_lock(mutex_);
    if (failed == 0) mutex_->__data.__nusers -= counts_;
    return failed;
  }

 private:
  // Only the owner may write there: where the type knows it, whoever is not will be told so by unlock(). A robust mutex
  // does not ask for its users when it is destroyed.
  bool counts_users() const {
    const int kind = mutex_->__data.__kind, type = kind & 3;
    if ((kind & 0x10) != 0) return false;
    return type == PTHREAD_MUTEX_NORMAL || type == PTHREAD_MUTEX_ADAPTIVE_NP || mutex_->__data.__owner == gettid();
  }

  pthread_mutex_t* const mutex_;
  const bool counts_;
};
}  // namespace glibc

}  // namespace fairlock::preload
