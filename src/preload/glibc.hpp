// SPDX-License-Identifier: Apache-2.0
// The originals: the next definitions, in load order, of the functions that this object replaces. They handle the kinds
// of mutexes, conditions and semaphores that cannot be replaced.
//
// An original is looked up at its first call, without a lock, because other libraries lock mutexes in constructors that
// run before ours. Two threads may look up the same name at once, with the same result.
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
    F* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) [[unlikely]]
      function = find();
    return function(arguments...);
  }

  bool is_found() const { return function_.load(std::memory_order_relaxed) != nullptr; }

  [[gnu::cold, gnu::noinline]] F* find() {
    void* address = dlsym(RTLD_NEXT, name_);
    // Functions of condition variables have an older version too, and an older glibc returns it if the caller names no
    // version. Functions with a single version are not looked up again: dlvsym allocates a message when it fails, and
    // the malloc that it calls may be locking its first mutex at that moment.
    if (has_versions())
      if (void* const newer = dlvsym(RTLD_NEXT, name_, "GLIBC_2.3.2"); object(newer) == object(address))
        address = newer;
    if (address == nullptr) {
      std::fprintf(stderr,
                   "fairlock: no %s behind this library: load it with LD_PRELOAD, in a program that uses glibc\n",
                   name_);
      std::abort();
    }
    const auto function = reinterpret_cast<F*>(address);
    function_.store(function, std::memory_order_relaxed);
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

  static void* object(void* address) {  // the start of the shared object that contains it
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
  }

  const char* const name_;
  std::atomic<F*> function_{nullptr};
};

namespace glibc {
// clang-format off: one entry per line
#define FAIRLOCK_ORIGINALS(each)                                                                                \
  each(pthread_mutex_init) each(pthread_mutex_destroy) each(pthread_mutex_lock) each(pthread_mutex_trylock)    \
  each(pthread_mutex_timedlock) each(pthread_mutex_clocklock) each(pthread_mutex_unlock)                       \
  each(pthread_cond_init) each(pthread_cond_destroy) each(pthread_cond_signal) each(pthread_cond_broadcast)    \
  each(pthread_cond_wait) each(pthread_cond_timedwait) each(pthread_cond_clockwait)                            \
  each(sem_init) each(sem_destroy) each(sem_wait) each(sem_trywait) each(sem_timedwait) each(sem_clockwait)    \
  each(sem_post) each(sem_getvalue) each(pthread_setcanceltype) each(mmap) each(shmat)
// clang-format on

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // nonnull is not part of a type
#define FAIRLOCK_ORIGINAL(name) inline constinit Original<decltype(::name)> name{#name};
FAIRLOCK_ORIGINALS(FAIRLOCK_ORIGINAL)
#undef FAIRLOCK_ORIGINAL
#pragma GCC diagnostic pop

// Called when this object is loaded. Later would be too late: dlsym waits for a dlopen of another thread, and the
// constructors that this dlopen runs may wait for the thread that calls dlsym.
inline void find_all() {
#define FAIRLOCK_FIND(name) name.find();
  FAIRLOCK_ORIGINALS(FAIRLOCK_FIND)
#undef FAIRLOCK_FIND
}
#undef FAIRLOCK_ORIGINALS

// A glibc mutex whose owner waits on one of our conditions. The waiter stays among the mutex's users, as it would on a
// glibc condition, so that no thread can destroy the mutex meanwhile.
class HeldMutex {
 public:
  explicit HeldMutex(pthread_mutex_t* mutex) : mutex_(mutex), counts_(counts_users()) {}

  int unlock() const {
    mutex_->__data.__nusers += counts_;
    const int error = pthread_mutex_unlock(mutex_);
    if (error != 0) mutex_->__data.__nusers -= counts_;
    return error;
  }
  int lock_again() const {
    const int error = pthread_mutex_lock(mutex_);
    if (error == 0) mutex_->__data.__nusers -= counts_;
    return error;
  }

 private:
  // Only the owner may write the count. If the type records its owner, any other thread gets an error from unlock(),
  // and must not change the count. A robust mutex does not check its users when it is destroyed.
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
