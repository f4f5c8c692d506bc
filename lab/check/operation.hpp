// SPDX-License-Identifier: Apache-2.0
// Operation: what a thread of a scenario is about to do to shared memory. Posting one is the only scheduling point.
#pragma once

#include <atomic>
#include <cstdint>

namespace fairlock::check {

enum class Kind : std::uint8_t {
  load,
  store,
  init,  // a store to a word that nobody else can see yet
  exchange,
  fetch_add,
  fetch_or,
  fetch_and,
  cas,
  fence,
  await,           // a load that is enabled only while the value satisfies `test`
  await_briefly,   // the same, but it may give up at any time
  await_until,     // the same, of a wait that has a deadline
  await_exchange,  // an exchange that is enabled only while the value satisfies `test`
  park,            // sleep while the word has the value `expected`; `operand` 1: with a deadline, 2: with patience
  unpark,          // wake everybody who sleeps on the address
  access,          // of the plain data that a lock protects: read and written
  chance,          // of something that two outcomes are open for: both are explored
  touch,           // of plain memory that travels between threads: the same, of any word
  start,           // a thread's first, without effect
};

struct Operation {
  Kind kind = Kind::start;
  std::uint8_t width = 8;  // bytes
  std::memory_order order = std::memory_order_relaxed;
  std::uintptr_t address = 0;
  std::uint64_t operand = 0;   // stored, added, or desired
  std::uint64_t expected = 0;  // of a cas
  bool (*test)(const void*, std::uint64_t) = nullptr;
  const void* context = nullptr;  // of test: on the stack of the waiting fiber
};

constexpr bool is_rmw(Kind kind) {
  return kind == Kind::exchange || kind == Kind::fetch_add || kind == Kind::fetch_or || kind == Kind::fetch_and ||
         kind == Kind::await_exchange;
}
constexpr bool is_await(Kind kind) {
  return kind == Kind::await || kind == Kind::await_briefly || kind == Kind::await_until ||
         kind == Kind::await_exchange;
}
// An await that may give up while the value does not satisfy.
constexpr bool may_give_up(Kind kind) { return kind == Kind::await_briefly || kind == Kind::await_until; }

constexpr bool has_address(Kind kind) { return kind != Kind::fence && kind != Kind::chance; }

// Whether nothing that another thread does can change the outcome, or the other way round: no reason to interleave it.
// A fence is one only where memory is sequentially consistent; an access is, because what it must not overlap with is
// noticed when a thread enters, and a race by happens-before.
constexpr bool is_private(Kind kind, bool weak) {
  return kind == Kind::start || kind == Kind::access || kind == Kind::touch || kind == Kind::init ||
         (kind == Kind::fence && !weak);
}

// What an RMW (or a cas that succeeds) writes over `old`.
constexpr std::uint64_t updated(const Operation& op, std::uint64_t old) {
  switch (op.kind) {
    case Kind::fetch_add: return op.width == 4 ? static_cast<std::uint32_t>(old + op.operand) : old + op.operand;
    case Kind::fetch_or: return old | op.operand;
    case Kind::fetch_and: return old & op.operand;
    default: return op.operand;
  }
}

}  // namespace fairlock::check
