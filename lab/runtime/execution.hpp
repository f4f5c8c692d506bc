// SPDX-License-Identifier: Apache-2.0
// Execution: threads on fibers, one at a time, over an arena that they share.
//
// A thread posts an operation and switches out. The driver decides what the operation does, and resumes the thread with
// the result. Between two operations a thread runs alone and touches nothing shared. Only the driver knows what an
// operation means, how memory behaves, and which behaviour is correct.
//
// Everything that a thread may change is in the arena, on the stacks, or in `Thread`, so restoring a snapshot
// of these three rewinds the execution. An abandoned fiber never runs destructors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/arena.hpp"
#include "runtime/fiber.hpp"
#include "runtime/names.hpp"
#include "runtime/operation.hpp"

namespace fairlock::runtime {

inline constexpr unsigned no_thread = ~0u;

// The state of a thread whose pending operation is a park: it has not read the word yet, it sleeps, or it was unparked.
enum class Sleep : std::uint8_t { awake, asleep, woken };

struct ExitCall {
  void (*function)(void*);
  void* argument;
};

struct Thread {
  void* sp = nullptr;  // the stack pointer while the thread is switched out
  Operation pending;
  std::uint64_t result = 0;
  bool gave_up = false;  // whether the pending wait ended without success
  bool finished = false;
  Sleep sleep = Sleep::awake;
  std::uint8_t exit_calls = 0;  // how many of `at_exit` are in use
  std::array<ExitCall, 2> at_exit{};
  std::uint64_t version = 0;     // changes whenever the thread runs: a stack of the same version need not be restored
  std::uint64_t local_hash = 0;  // of its stack and own objects, which, with the arena, determine what it does
};

class Execution {
 public:
  Execution(const ArenaSizes& sizes, unsigned block_bits);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  unsigned threads() const { return static_cast<unsigned>(threads_.size()); }
  const Thread& thread(unsigned t) const { return threads_[t]; }
  Arena& arena() { return arena_; }
  const Arena& arena() const { return arena_; }
  Names& names() { return names_; }
  const Names& names() const { return names_; }

  // --- for the driver ---

  // Clears the arena, and gives every thread a fiber that will call body(context, thread).
  void start(void (*body)(void* context, unsigned thread), void* context);
  // Gives thread t the result of its pending operation, and runs the thread to its next operation or to its end.
  void resume(unsigned t, std::uint64_t result, bool gave_up = false);
  bool all_finished() const;

  // The two steps of a futex. A thread that parks reads the word, and falls asleep if the word has the expected value.
  // The first function returns whether the thread fell asleep.
  bool fall_asleep(unsigned t);
  void wake_sleepers(std::uintptr_t address);

  std::uint64_t hash() const;
  std::size_t snapshot_size() const;
  std::byte* save(std::byte* to) const;             // returns the end of what it wrote
  const std::byte* restore(const std::byte* from);  // returns the end of what it read

  // --- for the running thread ---

  unsigned self() const { return self_; }  // no_thread between runs
  // Returns the result. The switch is a tail call, which leaves no frame on the stack. A frame would make all states
  // longer, and its unused bytes would make equal states look different.
  std::uint64_t post(const Operation& op) {
    auto& thread = threads_[self_];
    thread.pending = op;
    return fairlock_switch(&thread.sp, driver_sp_, 0);
  }
  // Switches to the driver, which must not resume this thread.
  void abandon() { fairlock_switch(&threads_[self_].sp, driver_sp_, 0); }
  // Registers a call for the end of the thread. The last call to be registered runs first. False if there is no room.
  bool call_at_exit(void (*function)(void*), void* argument);

  // Return the thread's own object of a type, or a new object. Null if the thread's part of the arena has no room.
  void* own(unsigned type, std::size_t size, Naming naming);
  void* create(std::size_t size, Naming naming);

 private:
  struct Start {
    Execution* execution;
    unsigned thread;
  };

  static void run_fiber(void* start);
  std::uint64_t local_hash(unsigned t) const;
  std::size_t live_stack(unsigned t) const;  // bytes

  Arena arena_;
  Names names_;
  std::vector<Fiber> fibers_;
  std::vector<Start> starts_;
  std::vector<Thread> threads_;
  void (*body_)(void*, unsigned) = nullptr;
  void* context_ = nullptr;
  void* driver_sp_ = nullptr;
  unsigned self_ = no_thread;
  std::uint64_t versions_ = 0;
};

}  // namespace fairlock::runtime
