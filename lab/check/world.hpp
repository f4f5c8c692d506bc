// SPDX-License-Identifier: Apache-2.0
// World: one scenario while it runs. It executes the threads of a program, reports to the judge what they do, and
// applies the planted bug, if there is one. A driver (driver.hpp) chooses the steps; a memory model (sc_memory.hpp,
// weak_memory.hpp) gives them their effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "check/judge.hpp"
#include "check/program.hpp"
#include "check/property.hpp"
#include "runtime/execution.hpp"
#include "runtime/hash.hpp"

namespace fairlock::check {

using runtime::has_address;
using runtime::is_await;
using runtime::is_rmw;
using runtime::Kind;
using runtime::may_give_up;
using runtime::name_fields;
using runtime::Names;
using runtime::Naming;
using runtime::no_thread;
using runtime::Operation;
using runtime::scramble;
using runtime::Sleep;
using runtime::Thread;
using runtime::thread_name;
using runtime::updated;

// What a mutation remembers for a thread (mutant.hpp).
struct MutationState {
  Operation delayed{};
  bool has_delayed = false;
  std::uint8_t matches = 0;
  bool remembers = false;
  std::uint64_t remembered = 0;
};

class World : public runtime::Execution {
 public:
  static constexpr std::size_t domain_space = 512;  // bytes
  static constexpr std::size_t fixture_space = 4096;

  World(const Program& program, const Config& config);

  // The world whose fiber runs on this OS thread.
  static World& current() { return *current_; }

  const Program& program() const { return program_; }
  const Config& config() const { return config_; }
  Judge& judge() { return judge_; }
  const Judge& judge() const { return judge_; }
  std::byte* domain_memory() { return arena().shared(); }
  std::byte* fixture() { return arena().shared() + domain_space; }
  int lock_at(std::uintptr_t address) const;  // -1: no lock
  bool dead(std::uintptr_t address) const;    // part of a destroyed lock or object

  // --- for drivers and memory models ---

  void reset();
  void resume(unsigned t, std::uint64_t result, bool gave_up = false);
  void note_change(unsigned t, std::uintptr_t address);  // an RMW of thread t changed the word
  // Parking is the same in all memory models. A sleeper may wake spuriously, or because its deadline has passed.
  unsigned park_outcomes(unsigned t) const;
  void park(unsigned t, unsigned outcome);
  void unpark(unsigned t);
  // Checks the final state: whether the lock is free.
  void check_end();

  std::uint64_t hash() const;  // of everything except weak memory, which has its own hash
  std::size_t snapshot_size() const;
  std::byte* save(std::byte* to) const;
  const std::byte* restore(const std::byte* from);

  // --- for the checked platform, on a fiber ---

  std::uint64_t perform(const Operation& op);
  void touch(std::uintptr_t address);  // plain memory, which one thread at a time owns
  bool gave_up() const { return thread(self()).gave_up; }
  bool last_wait_was_brief() const {
    const auto& op = thread(self()).pending;
    return op.kind == Kind::await_briefly || (op.kind == Kind::park && op.operand == runtime::park_with_patience);
  }
  void* own(unsigned type, std::size_t size, Naming naming);
  void* enter_scope(unsigned type, std::size_t size, Naming naming);
  void* create(std::size_t size, Naming naming);
  void call_at_exit(void (*function)(void*), void* argument);
  void stop(Property property, std::string what);  // does not return to the algorithm

  // --- reports of the scenario, on a fiber ---

  void acquiring(unsigned lock);
  void gave_way();  // an acquire that failed
  void entered(unsigned lock);
  void access(unsigned lock);
  void releasing(unsigned lock);
  void released();
  void destroyed(unsigned lock) { judge_.destroy(lock); }

 private:
  // Makes a world the current one during the lifetime of this object.
  class Here {
   public:
    explicit Here(World& world) : before_(current_) { current_ = &world; }
    ~Here() { current_ = before_; }

   private:
    World* before_;
  };

  void start_near_limits();
  void expect_alive(std::uintptr_t address);
  std::uint64_t perform_between_steps(const Operation& op);
  std::uint64_t perform_mutated(const Operation& op, const Mutation* mutation);
  std::uint64_t post(const Operation& op);
  void stop_if_violated();
  void forget_matches();

  static thread_local World* current_;

  Program program_;
  Config config_;
  Judge judge_;
  std::array<MutationState, max_threads> mutation_states_;  // in snapshots only if there is a mutation
};

}  // namespace fairlock::check
