// SPDX-License-Identifier: Apache-2.0
#include "check/judge.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/hash.hpp"

namespace fairlock::check {

using runtime::scramble;
using runtime::thread_name;

const char* name_of(Property property) {
  switch (property) {
    case Property::none: return "none";
    case Property::exclusion: return "mutual exclusion";
    case Property::deadlock: return "deadlock";
    case Property::order: return "order of admission";
    case Property::race: return "data race";
    case Property::destroyed: return "use after destruction";
    case Property::unlocked: return "unlocked at the end";
    case Property::torn: return "torn record";
    case Property::wild: return "wild access";
    case Property::promise: return "stopped";
  }
  return "?";
}

namespace {

std::uint8_t bit(unsigned t) { return static_cast<std::uint8_t>(1u << t); }

bool in_line(const Line& line, unsigned t) {
  return std::find(line.thread, line.thread + line.length, t) != line.thread + line.length;
}

void leave_line(Line& line, unsigned t) {
  unsigned stay = 0;
  for (unsigned i = 0; i < line.length; ++i)
    if (line.thread[i] != t) line.thread[stay++] = line.thread[i];
  line.length = static_cast<std::uint8_t>(stay);
  std::memset(line.thread + stay, 0, sizeof line.thread - stay);
}

}  // namespace

Judge::Judge(const Program& program, unsigned threads)
    : order_(program.order),
      bypass_(program.bypass),
      threads_(threads),
      locks_(program.locks),
      permits_(program.permits),
      always_held_(program.permits == any_number || program.waits_for_deadlines),
      bounded_(bounds_bypass(program.order)) {}

void Judge::reset() {
  state_ = State{};
  violation_ = {};
}

void Judge::violate(Property property, std::string what) {
  if (!violated()) violation_ = {property, std::move(what)};
}

// In a scenario whose threads do not leave, permits come from outside, so there is always something to wait for.
bool Judge::held() const {
  return always_held_ || std::any_of(state_.standings.begin(), state_.standings.end(), [](const Standing& standing) {
           return !standing.finished && (standing.phase == Phase::inside || standing.phase == Phase::releasing);
         });
}

void Judge::acquire(unsigned t, unsigned lock) {
  auto& standing = state_.standings[t];
  standing.phase = Phase::acquiring;
  standing.lock = static_cast<std::uint8_t>(lock);
  standing.placed = false;
}

void Judge::give_up(unsigned t) {
  auto& standing = state_.standings[t];
  leave_line(state_.lines[standing.lock], t);
  standing.phase = Phase::outside;
}

void Judge::enter(unsigned t, unsigned lock) {
  auto& standing = state_.standings[t];
  auto& line = state_.lines[lock];
  standing.phase = Phase::inside;
  standing.placed = false;
  const auto inside = static_cast<unsigned>(std::popcount(line.inside));
  if (inside >= permits_)
    return violate(Property::exclusion,
                   thread_name(t) + " entered while " +
                       (inside == 1 ? thread_name(static_cast<unsigned>(std::countr_zero(line.inside))) + " was"
                                    : std::to_string(inside) + " others were") +
                       " inside");
  line.inside |= bit(t);
  if (!bounded_) return;
  check_bypass(t);
  unsigned ahead = 0;
  while (ahead < line.length && line.thread[ahead] != t) ++ahead;
  if (inside + ahead < permits_) ahead = 0;  // threads that are admitted together may enter in any order
  for (unsigned i = 0; i < ahead; ++i) {
    const unsigned waiter = line.thread[i];
    if (line.returns >> t & 1) continue;
    auto& bypassed = line.bypassed[waiter][t];
    bypassed = order_ == Order::platoon
                   ? std::max(bypassed, static_cast<std::uint8_t>(line.place[t] - line.place[waiter]))
                   : static_cast<std::uint8_t>(bypassed + 1);
    if (state_.standings[waiter].placed) check_bypass(waiter);
  }
  leave_line(line, t);
  std::memset(line.bypassed[t], 0, sizeof line.bypassed[t]);
}

void Judge::release(unsigned t, unsigned lock) {
  auto& standing = state_.standings[t];
  standing.leaving = true;
  standing.phase = Phase::releasing;
  standing.lock = static_cast<std::uint8_t>(lock);
}

void Judge::leave(unsigned t) { state_.standings[t].phase = Phase::outside; }

// Clears everything that describes an unfinished thread, because all finished threads are alike.
void Judge::finish(unsigned t) {
  auto& standing = state_.standings[t];
  standing = {Phase::outside, 0, false, false, standing.started, true};
}

void Judge::begin_wait(unsigned t) {
  auto& standing = state_.standings[t];
  if (standing.phase != Phase::acquiring || standing.placed || !in_line(state_.lines[standing.lock], t)) return;
  standing.placed = true;
  check_bypass(t);
}

// The thread leaves the line, and other threads may pass it. It may also return to the place that it had, ahead of the
// threads that were behind it.
void Judge::give_up_wait(unsigned t) {
  auto& standing = state_.standings[t];
  if (standing.phase != Phase::acquiring) return;
  auto& line = state_.lines[standing.lock];
  leave_line(line, t);
  line.returns |= bit(t);
  standing.placed = true;  // its later changes to the lock's words are not arrivals
}

void Judge::take_release_step(unsigned t) {
  auto& standing = state_.standings[t];
  // Releasing a lock empties it, whichever thread releases. A semaphore's permit is returned by the thread that has it.
  state_.lines[standing.lock].inside &= permits_ == 1 ? std::uint8_t{0} : static_cast<std::uint8_t>(~bit(t));
  standing.leaving = false;
}

// A thread arrives with the last RMW that changes the lock's own words before it begins to wait, or enters. At a
// capacitor it arrives with the first one, which takes its place in the order of platoons.
void Judge::arrive(unsigned t) {
  auto& line = state_.lines[state_.standings[t].lock];
  if (order_ == Order::platoon && in_line(line, t)) return;
  line.place[t] = line.arrivals++;
  leave_line(line, t);
  std::memset(line.bypassed[t], 0, sizeof line.bypassed[t]);
  line.thread[line.length++] = static_cast<std::uint8_t>(t);
}

// Until a thread waits or enters, it may arrive again. Then the threads that passed it so far do not count.
void Judge::check_bypass(unsigned t) {
  const auto& row = state_.lines[state_.standings[t].lock].bypassed[t];
  for (unsigned by = 0; by < threads_; ++by)
    if (row[by] > bypass_)
      return violate(Property::order, thread_name(by) + " entered before " + thread_name(t) +
                                          ", which had arrived earlier" +
                                          (order_ == Order::platoon ? ", in another platoon"
                                           : bypass_ > 0            ? ", once more than the bound allows"
                                                                    : ""));
}

std::uint64_t Judge::hash() const {
  // The stack of a thread determines its phase and its lock, so they are not hashed.
  std::uint64_t standings = 0;
  for (unsigned t = 0; t < threads_; ++t) {
    const auto& standing = state_.standings[t];
    standings = standings * 8 + standing.placed + standing.leaving * 2u + standing.started * 4u;
  }
  std::uint64_t hash = scramble(standings, 0x30);
  for (unsigned l = 0; l < locks_; ++l) {
    const auto& line = state_.lines[l];
    std::uint64_t order = line.length + line.destroyed * 8u + line.returns * 16u;
    for (unsigned i = 0; i < line.length; ++i) order = order * 8 + line.thread[i];
    hash += scramble(order, 0x10 + l);
    if (line.length == 0) continue;
    std::uint64_t counts = 0;
    if (order_ == Order::platoon)
      for (unsigned i = 0; i < line.length; ++i) counts = counts * 61 + line.arrivals - line.place[line.thread[i]];
    for (const auto& row : line.bypassed)
      for (const auto count : row) counts = counts * 61 + count;
    if (counts != 0) hash += scramble(counts, 0x20 + l);
  }
  return hash;
}

std::byte* Judge::save(std::byte* to) const {
  std::memcpy(to, &state_, sizeof state_);
  return to + sizeof state_;
}

const std::byte* Judge::restore(const std::byte* from) {
  std::memcpy(&state_, from, sizeof state_);
  return from + sizeof state_;
}

}  // namespace fairlock::check
