// SPDX-License-Identifier: Apache-2.0
// The checked platform: every atomic operation and every wait is posted to the world, which decides when it happens.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <fairlock/platform/domain.hpp>
#include <fairlock/platform/sleeping.hpp>
#include <fairlock/waiting/chain.hpp>

#include "check/world.hpp"

namespace fairlock::check {

template <class T>
std::uint64_t to_word(T value) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uintptr_t>(value);
  else return static_cast<std::uint64_t>(value);
}

template <class T>
T from_word(std::uint64_t word) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(static_cast<std::uintptr_t>(word));
  else return static_cast<T>(word);
}

// Registers the fields of an object under the names that its own `fields` gives them.
struct FieldNamer {
  World& world;
  const std::string& owner;
  template <class A>
  void operator()(const char* field, const A& atomic) {
    world.name(field, nobody, &atomic, sizeof atomic, owner);
  }
  template <class A>
  void operator()(const char* field, unsigned index, const A& atomic) {
    world.name(field, index, &atomic, sizeof atomic, owner);
  }
  // An object within the object: its fields are its owner's where it has no name.
  template <class T>
  void part(const std::string& name, const T& object) {
    object.fields(FieldNamer{world, owner.empty() || name.empty() ? owner + name : owner + "." + name});
  }
  template <class T>
  void part(const std::string& name, unsigned index, const T& object) {
    part(name + "[" + std::to_string(index) + "]", object);
  }
};

template <class T>
void register_fields(World& world, const T& object, const std::string& owner) {
  object.fields(FieldNamer{world, owner});
}

struct CheckedMemory {
  // Addresses have no meaning here but to tell words apart, so nothing is spread out.
  static constexpr std::size_t sector = 8;
  static constexpr std::size_t page = 8;
  static constexpr std::uint32_t max_slots = 4;
  static constexpr unsigned max_lanes = 4;
  static constexpr unsigned max_threads = check::max_threads;
  static constexpr unsigned max_leavers = 4;
  static constexpr bool sleeps = false;
  static constexpr unsigned short_spin = 0, long_spin = 0;

  template <class T>
  class atomic {
   public:
    constexpr atomic() = default;

    T load(std::memory_order o) const { return from_word<T>(perform({.kind = Kind::load, .order = o})); }
    void store(T v, std::memory_order o) { perform({.kind = Kind::store, .order = o, .operand = to_word(v)}); }
    void init(T v) { perform({.kind = Kind::init, .operand = to_word(v)}); }
    T exchange(T v, std::memory_order o) { return modify(Kind::exchange, v, o); }
    T fetch_add(T v, std::memory_order o) { return modify(Kind::fetch_add, v, o); }
    T fetch_or(T v, std::memory_order o) { return modify(Kind::fetch_or, v, o); }
    T fetch_and(T v, std::memory_order o) { return modify(Kind::fetch_and, v, o); }
    bool compare_exchange(T& expected, T desired, std::memory_order o) {
      const auto word = to_word(expected);
      const auto old = perform({.kind = Kind::cas, .order = o, .operand = to_word(desired), .expected = word});
      expected = from_word<T>(old);
      return old == word;
    }
    bool cas(T expected, T desired, std::memory_order o) { return compare_exchange(expected, desired, o); }

    std::uint64_t perform(Operation op) const {
      op.width = sizeof(T);
      op.address = reinterpret_cast<std::uintptr_t>(this);
      return World::current().perform(op);
    }

   private:
    T modify(Kind kind, T v, std::memory_order o) {
      return from_word<T>(perform({.kind = kind, .order = o, .operand = to_word(v)}));
    }
    T value_;
  };

  // No scheduling point, but part of the state. Under weak memory every use must happen after the one before.
  template <class T>
  class plain {
   public:
    operator T() const {
      touch();
      return value_;
    }
    plain& operator=(T value) {
      touch();
      World::current().write(reinterpret_cast<std::uintptr_t>(&value_), sizeof(T), to_word(value));
      return *this;
    }

   private:
    void touch() const {
      static_assert(sizeof(T) == 8);
      World::current().touch(reinterpret_cast<std::uintptr_t>(this));
    }
    T value_;
  };

  // What a scenario notes for itself: no memory of the program.
  template <class T>
  class tally {
   public:
    operator T() const { return value_; }
    tally& operator=(T value) {
      World::current().write(reinterpret_cast<std::uintptr_t>(&value_), sizeof(T), to_word(value));
      return *this;
    }

   private:
    T value_;
  };

  static void fence_after_rmw() { fence(order::seq_cst); }
  static void fence(std::memory_order o) { World::current().perform({.kind = Kind::fence, .order = o}); }

  template <class T>
  static T& local() {
    return *static_cast<T*>(World::current().own(type_number<T>(), sizeof(T), naming<T>()));
  }

  static bool advance(std::uint64_t& own, std::uint64_t from) {  // no signals here
    own = from + 1;
    return true;
  }

  // In the thread's own memory, and dead outside of its scope. One of a kind at a time.
  template <class T>
  class scoped {
   public:
    scoped() : object_(static_cast<T*>(World::current().enter_scope(type_number<T>(), sizeof(T), naming<T>()))) {}
    ~scoped() { World::current().leave_scope(object_, sizeof(T)); }
    scoped(const scoped&) = delete;
    T& operator*() { return *object_; }
    T* operator->() { return object_; }

   private:
    T* object_;
  };

  template <class T>
  static T* create() {
    return static_cast<T*>(World::current().create(sizeof(T), naming<T>()));
  }

  template <class T>
  static void destroy(T* object) {
    World::current().destroy(object, sizeof(T));
  }
  static void free_at_exit(void (*free)(void*), void* object) { World::current().keep(free, object); }

  static const DomainOptions& options() { return World::current().config().domain; }
  static Domain<CheckedMemory>& domain() {
    static_assert(sizeof(Domain<CheckedMemory>) <= World::domain_space);
    return *reinterpret_cast<Domain<CheckedMemory>*>(World::current().domain_memory());
  }
  static std::uint32_t slots() { return World::current().config().slots; }
  // Locks at offsets 0 and 1 of eight bytes: salts that differ, and do not depend on where the arena lies.
  static std::uint32_t salt(const void* object) { return World::current().offset(object) / 8; }
  static std::uint64_t identity(const void* object) { return World::current().offset(object) | std::uint64_t{1} << 63; }
  static Key key(const void* object, std::uint64_t number = 0) { return salt(object) + number; }
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

  [[noreturn]] static void stop(const char* who, const char* what) {
    World::current().stop(Property::promise, std::string(who) + ": " + what);
    __builtin_unreachable();
  }

 private:
  struct RandomState {
    std::uint64_t state;
  };

  template <class T>
  static unsigned type_number() {
    static const unsigned number = next_type_number();
    return number;
  }
  static unsigned next_type_number() {
    static std::atomic<unsigned> next{0};
    return next++;
  }

  template <class T>
  static constexpr auto naming() -> void (*)(World&, const void*, const std::string&) {
    if constexpr (requires(const T& object) { object.fields([](auto&&...) {}); })
      return [](World& world, const void* object, const std::string& owner) {
        register_fields(world, *static_cast<const T*>(object), owner);
      };
    else return nullptr;
  }
};

struct Checked : CheckedMemory {
  template <class A, class C>
  static auto await(const A& where, const C& condition, std::memory_order o = order::acquire, Key = 0) {
    return wait(where, condition, Kind::await, 0, o);
  }

  // Whether it gives up is for the world to decide, wherever it may.
  template <class A, class C, Until U>
  static auto await_until(const A& where, const C& condition, const U& until, std::memory_order o = order::acquire,
                          Key = 0) -> std::optional<decltype(where.load(o))> {
    const auto value = wait(where, condition,
                            stays_in_line<U>            ? Kind::await_briefly
                            : until.deadline() == never ? Kind::await
                                                        : Kind::await_until,
                            0, o);
    if (World::current().gave_up()) return std::nullopt;
    return value;
  }
  // A brief wait that ends without success does not tell whether the deadline has passed: both cases are explored.
  template <Until U>
  static bool over(const U& until) {
    if (until.deadline() == never || !World::current().gave_up()) return until.interrupted();
    return stays_in_line<U> || !World::current().last_wait_was_brief() ||
           World::current().perform({.kind = Kind::chance}) != 0;
  }

  static std::uint64_t now() { return 0; }

  // There is no clock: patience is lost at any time, or never. That it is not a deadline, the world must know: whoever
  // loses it stays in line.
  struct Patience {
    static constexpr bool stays_in_line = true;
    static constexpr std::uint64_t deadline() { return 1; }
    static constexpr bool interrupted() { return false; }
  };
  template <Until U>
  static Patience within(const U&, std::uint64_t) {
    return {};
  }

  template <class A, class C, class Pace, Until U>
  static auto await_paced(const A& where, const C& condition, const Pace&, const U& until, std::memory_order o,
                          Key = 0) {
    return await_until(where, condition, until, o);
  }

  template <class A, class T, class... K>
  static void publish(A& where, T value, K...) {
    where.store(value, order::release);
  }
  template <class... K>
  static void signal(K...) {}

  template <class A, Until U>
  static bool watch(const A& gate, const U& until) {
    return await_until(gate, [](auto now) { return now == gate_woken; }, until).has_value();
  }

  template <class A, Until U>
  static bool park(const A& word, std::uint64_t value, const U& until) {
    auto&& observer = observer_of(until);
    observer.before_park(&word, &unpark);
    bool in_time = !until.interrupted();
    if (in_time) {
      const unsigned operand = stays_in_line<U> ? 2u : until.deadline() != never;
      word.perform({.kind = Kind::park, .operand = operand, .expected = value});
      in_time = !World::current().gave_up();
    }
    observer.after_park();
    return in_time && !until.interrupted();
  }
  static void unpark(const void* word) {
    World::current().perform({.kind = Kind::unpark, .address = reinterpret_cast<std::uintptr_t>(word)});
  }

  template <class A, class C>
  static auto await_briefly(const A& where, const C& condition, unsigned, std::memory_order o = order::acquire)
      -> std::optional<decltype(where.load(o))> {
    const auto value = wait(where, condition, Kind::await_briefly, 0, o);
    if (World::current().gave_up()) return std::nullopt;
    return value;
  }
  template <class A, class C>
  static auto await_if_worthwhile(const void*, const A& where, const C& condition, unsigned looks,
                                  std::memory_order o) {
    return await_briefly(where, condition, looks, o);
  }

  template <class A, class T, class C>
  static auto await_exchange(A& where, T desired, const C& condition, std::memory_order o = order::acquire) {
    return wait(where, condition, Kind::await_exchange, to_word(desired), o);
  }

  template <class C, Until U>
  static bool satisfied_soon(const void*, const C&, const U&) {
    return false;
  }

  static void pause(unsigned) {}

 private:
  template <class U>
  static constexpr bool stays_in_line = requires { U::stays_in_line; };

  template <class A, class C>
  static auto wait(const A& where, const C& condition, Kind kind, std::uint64_t operand, std::memory_order o) {
    using T = decltype(where.load(o));
    return from_word<T>(where.perform({
        .kind = kind,
        .order = o,
        .operand = operand,
        .test = [](const void* c, std::uint64_t word) -> bool {
          return (*static_cast<const C*>(c))(from_word<T>(word));
        },
        .context = &condition,
    }));
  }
};

// Waiters that sleep.
using CheckedSleeping = Sleeping<Checked>;

// Waiters that check their condition twice before they sleep, and step aside in between: natively they yield there
// (waiting/yield_before_park.hpp), and here any other thread may run.
struct CheckedStepAside : Checked {
  static constexpr unsigned short_spin = 1;

  template <class C, Until U>
  static bool satisfied_soon(const void*, const C& satisfied, const U& until) {
    return satisfied() || (observer_of(until).may_yield() && !until.interrupted() && satisfied());
  }
};
using CheckedStepAsideThenSleep = Sleeping<CheckedStepAside>;

static_assert(Platform<Checked> && Platform<CheckedSleeping>);
static_assert(Platform<CheckedStepAside> && Platform<CheckedStepAsideThenSleep>);

}  // namespace fairlock::check
