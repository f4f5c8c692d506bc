// SPDX-License-Identifier: Apache-2.0
#include "runtime/execution.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/hash.hpp"

namespace fairlock::runtime {

namespace {

constexpr std::size_t clean_below = 768;  // bytes. No step of a thread uses more stack than this

}  // namespace

Execution::Execution(const ArenaSizes& sizes, unsigned block_bits)
    : arena_(sizes), names_(arena_, block_bits), fibers_(sizes.threads), threads_(sizes.threads) {
  for (unsigned t = 0; t < sizes.threads; ++t) starts_.push_back({this, t});
}

void Execution::start(void (*body)(void*, unsigned), void* context) {
  body_ = body;
  context_ = context;
  arena_.clear();
  for (unsigned t = 0; t < threads(); ++t) {
    threads_[t] = Thread{};
    threads_[t].sp = fibers_[t].prepare(&run_fiber, &starts_[t]);
  }
}

void Execution::run_fiber(void* start) {
  const auto [execution, t] = *static_cast<Start*>(start);
  execution->body_(execution->context_, t);
  auto& thread = execution->threads_[t];
  while (thread.exit_calls > 0) {
    const auto [function, argument] = thread.at_exit[--thread.exit_calls];
    function(argument);
  }
  execution->arena_.mark_own_dead(t);
  thread.finished = true;
  execution->abandon();
}

void Execution::resume(unsigned t, std::uint64_t result, bool gave_up) {
  auto& thread = threads_[t];
  thread.result = result;
  thread.gave_up = gave_up;
  self_ = t;
  // Clear what earlier calls left below the stack pointer. Otherwise, the unused bytes of new frames would contain it,
  // and make equal states look different.
  std::memset(static_cast<std::byte*>(thread.sp) - clean_below, 0, clean_below);
  fairlock_switch(&driver_sp_, thread.sp, result);
  self_ = no_thread;
  thread.version = ++versions_;
  thread.local_hash = local_hash(t);
}

bool Execution::all_finished() const {
  return std::all_of(threads_.begin(), threads_.end(), [](const Thread& thread) { return thread.finished; });
}

bool Execution::fall_asleep(unsigned t) {
  auto& thread = threads_[t];
  const auto& op = thread.pending;
  // A futex compares only the low 32 bits of a word.
  const bool sleeps =
      thread.sleep == Sleep::awake && arena_.read(op.address, 4) == static_cast<std::uint32_t>(op.expected);
  thread.sleep = sleeps ? Sleep::asleep : Sleep::awake;
  return sleeps;
}

void Execution::wake_sleepers(std::uintptr_t address) {
  for (auto& thread : threads_)
    if (thread.sleep == Sleep::asleep && thread.pending.address == address) thread.sleep = Sleep::woken;
}

bool Execution::call_at_exit(void (*function)(void*), void* argument) {
  auto& thread = threads_[self_];
  if (thread.exit_calls == thread.at_exit.size()) return false;
  thread.at_exit[thread.exit_calls++] = {function, argument};
  return true;
}

void* Execution::own(unsigned type, std::size_t size, Naming naming) {
  if (const auto offset = arena_.offset_of_own(type)) return arena_.part(self_) + *offset;
  const auto offset = arena_.reserve_own(type, size);
  if (!offset) return nullptr;
  for (unsigned t = 0; t < threads(); ++t) {
    std::byte* const object = arena_.part(t) + *offset;
    names_.add_object(object, thread_name(t));
    if (naming) naming(names_, object, thread_name(t));
  }
  return arena_.part(self_) + *offset;
}

void* Execution::create(std::size_t size, Naming naming) {
  std::byte* const object = arena_.create(self_, size);
  if (object == nullptr || names_.has_object(object)) return object;
  const std::size_t whole = (size + 7) / 8 * 8;
  const std::string number = std::to_string((arena_.created_bytes(self_) + size - 1) / whole);
  const std::string name = thread_name(self_) + (self_ < 26 ? "" : "#") + number;
  names_.add_object(object, name);
  if (naming) naming(names_, object, name);
  return object;
}

// --- states ---

std::size_t Execution::live_stack(unsigned t) const {
  return static_cast<std::size_t>(fibers_[t].top() - static_cast<const std::byte*>(threads_[t].sp));
}

// The live stack holds the registers of a thread that is switched out.
std::uint64_t Execution::local_hash(unsigned t) const {
  const auto& thread = threads_[t];
  if (thread.finished) return scramble(t, 0xf171);
  std::uint64_t hash = hash_bytes(t, static_cast<const std::byte*>(thread.sp), live_stack(t));
  hash = hash_bytes(hash, arena_.part(t), arena_.own_bytes());
  return scramble(hash, arena_.created_bytes(t));
}

std::uint64_t Execution::hash() const {
  std::uint64_t hash = arena_.hash();
  for (unsigned t = 0; t < threads(); ++t) {
    hash += threads_[t].local_hash;
    if (threads_[t].sleep != Sleep::awake) hash += scramble(t, 0x51ee0 + static_cast<unsigned>(threads_[t].sleep));
  }
  return hash;
}

std::size_t Execution::snapshot_size() const {
  std::size_t size = threads_.size() * sizeof(Thread) + arena_.snapshot_size();
  for (unsigned t = 0; t < threads(); ++t) size += live_stack(t);
  return size;
}

std::byte* Execution::save(std::byte* to) const {
  std::memcpy(to, threads_.data(), threads_.size() * sizeof(Thread));
  to = arena_.save(to + threads_.size() * sizeof(Thread));
  for (unsigned t = 0; t < threads(); ++t) {
    std::memcpy(to, threads_[t].sp, live_stack(t));
    to += live_stack(t);
  }
  return to;
}

const std::byte* Execution::restore(const std::byte* from) {
  const std::byte* const saved = from;
  from = arena_.restore(from + threads_.size() * sizeof(Thread));
  for (unsigned t = 0; t < threads(); ++t) {
    const auto version = threads_[t].version;
    std::memcpy(&threads_[t], saved + t * sizeof(Thread), sizeof(Thread));
    if (threads_[t].version != version) std::memcpy(threads_[t].sp, from, live_stack(t));
    from += live_stack(t);
  }
  return from;
}

}  // namespace fairlock::runtime
