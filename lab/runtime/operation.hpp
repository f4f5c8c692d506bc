// SPDX-License-Identifier: Apache-2.0
// Operation: what a thread is about to do to shared memory. A thread runs alone from one operation to the next, so
// operations are the only points where threads interleave.
#pragma once

#include <atomic>
#include <cstdint>

namespace fairlock::runtime {

enum class Kind : std::uint8_t {
  load,
  store,
  init,  // a store to a word that no other thread can see yet
  exchange,
  fetch_add,
  fetch_or,
  fetch_and,
  cas,
  fence,
  await,           // a load that is enabled only while the value satisfies `test`
  await_briefly,   // the same, but the thread may give up at any time
  await_until,     // the same, for a wait with a deadline
  await_exchange,  // an exchange that is enabled only while the value satisfies `test`
  park,            // sleep while the word has the value `expected`; `operand` is a ParkLimit
  unpark,          // wake all threads that sleep on the address
  access,          // read and write the plain data that lock number `operand` protects
  chance,          // a random choice between two outcomes
  touch,           // read and write another plain word, which passes from thread to thread
  start,           // the first operation of a thread; it has no effect
};

// Whether, and because of what, a parked thread may give up.
enum ParkLimit : std::uint8_t { park_forever, park_until_deadline, park_with_patience };

struct Operation {
  Kind kind = Kind::start;
  std::uint8_t width = 8;  // bytes
  std::memory_order order = std::memory_order_relaxed;
  std::uintptr_t address = 0;
  std::uint64_t operand = 0;   // the value to store, add, or write in a cas
  std::uint64_t expected = 0;  // the value that a cas or a park compares with
  bool (*test)(const void* context, std::uint64_t value) = nullptr;
  const void* context = nullptr;  // on the stack of the waiting fiber
};

constexpr bool is_rmw(Kind kind) {
  return kind == Kind::exchange || kind == Kind::fetch_add || kind == Kind::fetch_or || kind == Kind::fetch_and ||
         kind == Kind::await_exchange;
}
constexpr bool is_await(Kind kind) {
  return kind == Kind::await || kind == Kind::await_briefly || kind == Kind::await_until ||
         kind == Kind::await_exchange;
}
// Whether the thread may give up while the value does not satisfy `test`.
constexpr bool may_give_up(Kind kind) { return kind == Kind::await_briefly || kind == Kind::await_until; }

constexpr bool has_address(Kind kind) { return kind != Kind::fence && kind != Kind::chance; }

// The value that an RMW, or a cas that succeeds, writes over `old`.
constexpr std::uint64_t updated(const Operation& op, std::uint64_t old) {
  switch (op.kind) {
    case Kind::fetch_add: return op.width == 4 ? static_cast<std::uint32_t>(old + op.operand) : old + op.operand;
    case Kind::fetch_or: return old | op.operand;
    case Kind::fetch_and: return old & op.operand;
    default: return op.operand;
  }
}

}  // namespace fairlock::runtime
