// SPDX-License-Identifier: Apache-2.0
// The memory of the checked platform: every operation on an atomic is posted to the world, which decides when it
// happens, and the objects of threads lie in the arena.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fairlock/platform/domain.hpp>
#include <fairlock/platform/platform.hpp>

#include "check/world.hpp"
#include "runtime/atomic.hpp"

namespace fairlock::check {

struct CheckedMemory {
  // Addresses only distinguish words, so nothing is padded.
  static constexpr std::size_t sector = 8;
  static constexpr std::size_t page = 8;
  static constexpr std::uint32_t max_slots = 4;
  static constexpr unsigned max_lanes = 4;
  static constexpr unsigned max_threads = check::max_threads;
  static constexpr unsigned max_leavers = 4;
  static constexpr bool sleeps = false;
  static constexpr unsigned short_spin = 0, long_spin = 0;

  template <class T>
  using atomic = runtime::Atomic<T, World>;

  // A word of the scenario, which is not part of the program's memory.
  template <class T>
  class tally {
   public:
    operator T() const { return value_; }
    tally& operator=(T value) {
      World::current().arena().write(reinterpret_cast<std::uintptr_t>(&value_), sizeof(T), runtime::to_word(value));
      return *this;
    }

   private:
    T value_;
  };

  // An access is not a scheduling point, but the word is part of the state. Under weak memory, each use must happen
  // after the previous use.
  template <class T>
  class plain {
   public:
    operator T() const {
      touch();
      return value_;
    }
    plain& operator=(T value) {
      touch();
      value_ = value;
      return *this;
    }

   private:
    void touch() const {
      static_assert(sizeof(T) == 8);
      World::current().touch(reinterpret_cast<std::uintptr_t>(this));
    }
    tally<T> value_;
  };

  static void fence_after_rmw() { fence(order::seq_cst); }
  static void fence(std::memory_order o) { World::current().perform({.kind = Kind::fence, .order = o}); }

  // --- objects of threads ---

  template <class T>
  static T& local() {
    return *static_cast<T*>(World::current().own(type_number<T>(), sizeof(T), runtime::naming_of<T>()));
  }

  static bool advance(std::uint64_t& own, std::uint64_t from) {  // the checker has no signals
    own = from + 1;
    return true;
  }

  // One of the thread's own objects, which is dead outside its scope. A thread has one of each type at a time.
  template <class T>
  class scoped {
   public:
    scoped()
        : object_(static_cast<T*>(World::current().enter_scope(type_number<T>(), sizeof(T), runtime::naming_of<T>()))) {
    }
    ~scoped() { World::current().arena().mark_dead(object_, sizeof(T)); }
    scoped(const scoped&) = delete;
    T& operator*() { return *object_; }
    T* operator->() { return object_; }

   private:
    T* object_;
  };

  template <class T>
  static T* create() {
    return static_cast<T*>(World::current().create(sizeof(T), runtime::naming_of<T>()));
  }
  template <class T>
  static void destroy(T* object) {
    World::current().arena().mark_dead(object, sizeof(T));
  }
  static void free_at_exit(void (*free)(void*), void* object) { World::current().call_at_exit(free, object); }

  // --- the domain ---

  static const DomainOptions& options() { return World::current().config().domain; }
  static Domain<CheckedMemory>& domain() {
    static_assert(sizeof(Domain<CheckedMemory>) <= World::domain_space);
    return *reinterpret_cast<Domain<CheckedMemory>*>(World::current().domain_memory());
  }
  static std::uint32_t slots() { return World::current().config().slots; }
  // Offsets in the arena do not depend on where the arena lies. The first words of two locks have different salts.
  static std::uint32_t salt(const void* object) { return offset(object) / 8; }
  static std::uint64_t identity(const void* object) { return offset(object) | std::uint64_t{1} << 63; }
  static Key key(const void* object, std::uint64_t number = 0) { return salt(object) + number; }

  // --- the thread ---

  static unsigned self() {
    const unsigned thread = World::current().self();
    return thread < options().threads ? thread : max_threads;
  }
  static std::uint64_t serial() { return World::current().self() + 1; }
  static unsigned cpu() { return World::current().self(); }
  static unsigned node() { return World::current().self() / 2; }
  static std::uint64_t random() {
    auto& state = local<RandomState>().state;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL + World::current().self();
    return state >> 33;
  }

  static bool chance(Chance c) {
    return c.certain() ? c.times != 0 : World::current().perform({.kind = Kind::chance}) != 0;
  }
  template <class F>
  static bool guess(const F&) {
    return World::current().perform({.kind = Kind::chance}) != 0;
  }

  [[noreturn]] static void stop(const char* algorithm, const char* what) {
    World::current().stop(Property::promise, std::string(algorithm) + ": " + what);
    __builtin_unreachable();
  }

 private:
  struct RandomState {
    std::uint64_t state;
  };

  static std::uint32_t offset(const void* object) {
    return World::current().arena().offset(reinterpret_cast<std::uintptr_t>(object));
  }

  template <class T>
  static unsigned type_number() {
    static const unsigned number = next_type_number();
    return number;
  }
  static unsigned next_type_number() {
    static std::atomic<unsigned> next{0};
    return next++;
  }
};

}  // namespace fairlock::check
