// SPDX-License-Identifier: Apache-2.0
// World: one scenario in motion. A few threads on fibers, an arena with all that they share, and the bookkeeping of the
// properties. Everything that a step may change is in the arena, on the fibers' stacks, or in `Moving`, so that a
// snapshot of these three rewinds the world. Abandoned fibers never run destructors.
//
// A thread posts an operation and switches out; whoever drives the world (search.hpp) asks how many outcomes the
// operation can have now, chooses one, and steps. Between two operations a thread runs alone and touches nothing
// shared.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fairlock/platform/domain.hpp>
#include <fairlock/properties.hpp>

#include "check/fiber.hpp"
#include "check/operation.hpp"

namespace fairlock::check {

inline constexpr unsigned max_threads = 4;
inline constexpr unsigned max_locks = 2;
inline constexpr unsigned nobody = 0xff;

constexpr std::uint64_t scramble(std::uint64_t a, std::uint64_t b = 0) {
  std::uint64_t x = (a + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL ^ b;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 32);
}

enum class Phase : std::uint8_t { outside, acquiring, inside, releasing };

enum class Property : std::uint8_t {
  none,
  exclusion,  // more threads inside than may be
  deadlock,   // nobody can go on: a lost wake-up, or a line that never moves
  order,      // FIFO, or the bound on bypass
  race,       // what the lock protects is not ordered by happens-before
  destroyed,  // a lock was touched after the next owner destroyed it, or an element after it was freed
  unlocked,   // everybody left, and the lock is not free (a semaphore: not all permits are back)
  torn,       // a reader accepted a record that nobody wrote
  wild,       // an access to memory that belongs to nobody
  promise,    // the algorithm itself stopped
};
const char* name_of(Property);

// A scenario that the checker has no room for.
struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Mutation;  // mutant.hpp

// Of a thread whose pending operation is a park: not looked at the word yet, sleeps, or was unparked.
enum class Sleep : std::uint8_t { awake, asleep, woken };

struct Thread {
  void* sp;
  Operation pending;
  std::uint64_t result;
  bool gave_up;  // an await_briefly
  bool finished;
  Sleep sleep;
  std::uint16_t out_of_scope;  // a bit for each of its own words that are dead just now
  Phase phase;
  std::uint8_t lock;         // that the phase is about
  bool leaving;              // inside until it takes the first step of its release
  bool placed;               // its place in line is fixed: it has begun to wait
  std::uint8_t steps;        // 0: none yet
  std::uint16_t created;     // bytes of its part of the arena that are in use
  std::uint64_t version;     // changes whenever it runs: a stack of the same version need not be copied back
  std::uint64_t local_hash;  // of its stack and its own words: with the arena they determine what it will do
  // What a mutation remembers (mutant.hpp).
  std::array<std::pair<void (*)(void*), void*>, 2> kept;  // what to free at its end
  std::uint8_t keeps;
  Operation delayed;
  bool has_delayed;
  std::uint8_t matches;
  bool remembers;
  std::uint64_t remembered;
};

// The line before one lock, by order of arrival at the doorway.
struct Line {
  std::uint8_t length;
  std::uint8_t inside;  // a bit for each thread
  std::uint8_t destroyed;
  std::uint8_t returns;  // a bit for each thread that left while others stood behind it
  std::uint8_t thread[max_threads];
  std::uint8_t bypassed[max_threads][max_threads];  // [waiter][by]: how often it entered first though it arrived
                                                    // later; with platoons, by how many places later at most
  std::uint8_t arrivals;                            // so far
  std::uint8_t place[max_threads];                  // of those in line, counted from the first arrival
  std::uint32_t accesses;                           // of the data that it protects
};

struct Violation {
  Property property = Property::none;
  std::string what;
};

struct Moving {
  std::uint64_t memory_hash;  // of the values in the arena that are not a thread's own
  Property violated;
  unsigned violation_text;                          // index into World::texts_
  std::array<std::bitset<112>, max_threads> freed;  // of the eight-byte words that each thread created
  std::array<Line, max_locks> lines;
  std::array<Thread, max_threads> threads;  // last: snapshots copy only those that exist
};

// What is explored: a scenario over a lock of the catalogue.
struct Config {
  unsigned threads = 2;
  unsigned episodes = 1;
  std::uint32_t slots = 1;
  bool weak = false;
  DomainOptions domain{};
  const Mutation* mutation = nullptr;
};

struct Program {
  void (*construct)(void* fixture) = nullptr;
  void (*body)(void* fixture, unsigned thread, unsigned episodes) = nullptr;
  void (*visit)(const void* fixture, class World&) = nullptr;  // registers the names of the fields
  bool (*locked)(const void* fixture) = nullptr;
  std::size_t fixture_size = 0, lock_size = 0;  // the fixture begins with its locks
  unsigned locks = 1;
  unsigned permits = 1;  // how many threads may be inside at once
  Order order = Order::barging;
  int bypass = 0;
  bool waits_for_deadlines = false;  // a deadline may be all that anybody waits for, and then it comes
  bool symmetric = false;            // every thread does the same, and the lock does not care which thread is which
  bool starts_near_limits = false;   // counters start just below their limits
};

class World {
 public:
  static constexpr std::size_t part_size = 1024;  // a thread's part of the arena: its own words, and what it created
  static constexpr std::size_t own_size = 128;
  static constexpr std::size_t fixture_space = 4096;
  static constexpr std::size_t domain_space = 512;
  static constexpr std::size_t arena_size = domain_space + fixture_space + max_threads * part_size;

  World(const Program& program, const Config& config);
  World(const World&) = delete;

  // The world of the fiber that runs on this OS thread.
  static World& current() { return *current_; }

  // --- for whoever drives ---

  void reset();
  // Lets thread t go on from its pending operation, whose effect has been decided, to the next one.
  void resume(unsigned t, std::uint64_t result, bool gave_up = false);
  const Thread& thread(unsigned t) const { return moving.threads[t]; }
  unsigned threads() const { return config_.threads; }
  bool all_finished() const;
  std::uint64_t hash() const;  // of all but weak memory, which hashes itself
  void violate(Property property, std::string what);
  Violation violation() const;
  // What only the end shows: a lock that is not free, an access that got lost.
  void check_end();

  std::size_t snapshot_size() const;
  std::byte* save(std::byte* to) const;             // returns the end of what it wrote
  const std::byte* restore(const std::byte* from);  // and of what it read

  // Effects common to all memory models: bookkeeping of who stands where.
  void note_change(unsigned t, std::uintptr_t address);  // by an RMW
  void note_access(unsigned t);
  // Parking, which is the same for all memory models. A sleeper may wake for no reason, or because its deadline has
  // passed.
  unsigned park_outcomes(unsigned t) const;
  void park(unsigned t, unsigned outcome);
  void unpark(unsigned t);
  bool held() const;  // whether anybody is inside, or about to release: there is somebody to wait for
  bool dead(std::uintptr_t address) const;  // of a lock that was destroyed, or an element that was freed

  std::uint64_t read(std::uintptr_t address, unsigned width) const {
    std::uint64_t value = 0;
    if (width == 8) std::memcpy(&value, reinterpret_cast<const void*>(address), 8);
    else std::memcpy(&value, reinterpret_cast<const void*>(address), 4);
    return value;
  }
  void write(std::uintptr_t address, unsigned width, std::uint64_t value) {
    const auto old = read(address, width);
    moving.memory_hash += scramble(address - base(), value) - scramble(address - base(), old);
    std::memcpy(reinterpret_cast<void*>(address), &value, width);
  }

  // --- for the checked platform, on a fiber ---

  std::uint64_t perform(const Operation& op);
  void touch(std::uintptr_t address);         // memory that one thread at a time owns
  void expect_owned(std::uintptr_t address);  // a bug may follow a wild pointer: that is found, not suffered
  bool gave_up() const { return moving.threads[self_].gave_up; }
  bool last_wait_was_brief() const {
    const auto& op = moving.threads[self_].pending;
    return op.kind == Kind::await_briefly || (op.kind == Kind::park && op.operand == 2);
  }
  unsigned self() const { return self_; }
  void* own(unsigned type, std::size_t size, void (*name)(World&, const void*, const std::string&));
  void* enter_scope(unsigned type, std::size_t size, void (*name)(World&, const void*, const std::string&));
  void leave_scope(void* object, std::size_t size);
  void* create(std::size_t size, void (*name)(World&, const void*, const std::string&));
  void destroy(const void* object, std::size_t size);
  void keep(void (*free)(void*), void* spare);
  void stop(Property property, std::string what);  // does not return to the algorithm
  const Config& config() const { return config_; }
  std::byte* domain_memory() { return arena_.get(); }
  std::uint32_t offset(const void* object) const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(object) - base());
  }

  // --- for the scenario, on a fiber ---

  void acquiring(unsigned lock);
  void gave_way();  // a try that failed
  void entered(unsigned lock);
  void access(unsigned lock);
  void releasing(unsigned lock);
  void released();
  void destroyed(unsigned lock);

  // --- names, for traces, explanations and mutants ---

  void name(const char* field, unsigned index, const void* address, unsigned width, const std::string& owner);
  struct Name {
    const char* field = nullptr;  // as the algorithm calls it
    std::string text;             // with its owner and index
    unsigned width = 8;
    bool of_lock = false;
  };
  const Name* named(std::uintptr_t address) const;
  std::string show_value(std::uint64_t value) const;
  std::string show(const Operation& op) const;
  const std::vector<std::uintptr_t>& named_addresses() const { return named_addresses_; }
  const Program& program() const { return program_; }
  std::byte* fixture() { return arena_.get() + domain_space; }

  Moving moving{};

 private:
  // Makes a world the current one for a while.
  class Here {
   public:
    explicit Here(World& world) : before_(current_) { current_ = &world; }
    ~Here() { current_ = before_; }

   private:
    World* before_;
  };

  void start_near_limits();
  static void run_fiber(void* argument);
  std::uintptr_t base() const { return reinterpret_cast<std::uintptr_t>(arena_.get()); }
  std::byte* part(unsigned t) const { return arena_.get() + domain_space + fixture_space + t * part_size; }
  std::uint64_t post(const Operation& op);
  std::uint64_t perform(const Operation& op, const Mutation* mutation);
  std::uint64_t local_hash(unsigned t);
  std::size_t live_stack(unsigned t) const;
  int lock_at(std::uintptr_t address) const;
  static bool in_line(const Line& line, unsigned t);
  void leave_line(Line& line, unsigned t);
  void check_bypass(unsigned t);

  struct Free {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t{4096}); }
  };

  static thread_local World* current_;

  Program program_;
  Config config_;
  std::size_t fixture_used_;
  std::size_t moving_used_;
  std::unique_ptr<std::byte[], Free> arena_;
  std::array<Fiber, max_threads> fibers_;
  void* driver_sp_ = nullptr;
  unsigned self_ = nobody;
  std::vector<std::pair<unsigned, std::size_t>> own_offsets_;  // type -> offset in every thread's part
  std::size_t own_used_ = 0;
  std::unordered_map<std::uintptr_t, Name> names_;
  std::vector<std::uintptr_t> named_addresses_;
  std::vector<std::pair<std::uintptr_t, std::string>> objects_;  // for showing pointers
  std::vector<std::string> texts_;
  std::uint64_t versions_ = 0;
};

}  // namespace fairlock::check
