// SPDX-License-Identifier: Apache-2.0
// The catalogue behind one interface that is not a template. Every lock and variation is compiled once, in
// catalogue.cpp and variations.cpp, and the test programs iterate over a table.
#pragma once

#include <cstddef>
#include <new>
#include <string_view>
#include <vector>

#include <fairlock/properties.hpp>

struct AnyLock {
  struct alignas(8) Episode {
    std::byte bytes[32];
  };
  using Body = void (*)(void*);

  std::string_view name;
  fairlock::Properties properties;
  bool try_lock, context_free;
  bool trivial_lock, trivial_mutex;  // destructors
  std::size_t size, alignment, mutex_size, mutex_alignment, episode_size;

  void (*construct)(void* lock);
  void (*destroy)(void* lock);
  Episode (*acquire)(void* lock);
  bool (*try_acquire)(void* lock, Episode&);  // null where there is none
  void (*release)(void* lock, Episode);
  bool (*locked)(const void* lock);
  void (*guard)(void* lock, Body, void*);  // the body under a Guard
  void (*with)(void* lock, Body, void*);   // the body through with()

  void (*mutex_construct)(void* mutex);
  void (*mutex_destroy)(void* mutex);
  void (*mutex_lock)(void* mutex);
  bool (*mutex_try_lock)(void* mutex);
  void (*mutex_unlock)(void* mutex);

  bool suits(unsigned threads) const { return properties.max_threads == 0 || threads <= properties.max_threads; }
};

const std::vector<AnyLock>& every_lock();  // the catalogue's locks, then its variations

// A lock of a kind that is known at run time. The caller keeps the episode.
class Lock {
 public:
  using Episode = AnyLock::Episode;

  explicit Lock(const AnyLock& kind) : kind_(kind), body_(operator new(kind.size, std::align_val_t(kind.alignment))) {
    kind.construct(body_);
  }
  ~Lock() {
    kind_.destroy(body_);
    operator delete(body_, std::align_val_t(kind_.alignment));
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  Episode acquire() { return kind_.acquire(body_); }
  bool try_acquire(Episode& episode) { return kind_.try_acquire(body_, episode); }
  void release(Episode episode) { kind_.release(body_, episode); }
  bool locked() const { return kind_.locked(body_); }

  template <class F>
  void guard(F function) {
    kind_.guard(body_, [](void* f) { (*static_cast<F*>(f))(); }, &function);
  }
  template <class F>
  void with(F function) {
    kind_.with(body_, [](void* f) { (*static_cast<F*>(f))(); }, &function);
  }

 private:
  const AnyLock& kind_;
  void* body_;
};

// The same as a Lockable: Mutex<L>.
class Lockable {
 public:
  explicit Lockable(const AnyLock& kind)
      : kind_(kind), body_(operator new(kind.mutex_size, std::align_val_t(kind.mutex_alignment))) {
    kind.mutex_construct(body_);
  }
  ~Lockable() {
    kind_.mutex_destroy(body_);
    operator delete(body_, std::align_val_t(kind_.mutex_alignment));
  }
  Lockable(const Lockable&) = delete;
  Lockable& operator=(const Lockable&) = delete;

  void lock() { kind_.mutex_lock(body_); }
  bool try_lock() { return kind_.mutex_try_lock(body_); }
  void unlock() { kind_.mutex_unlock(body_); }

 private:
  const AnyLock& kind_;
  void* body_;
};
