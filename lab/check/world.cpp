// SPDX-License-Identifier: Apache-2.0
#include "check/world.hpp"

#include <cstring>
#include <string_view>

#include "check/mutant.hpp"

namespace fairlock::check {

thread_local World* World::current_ = nullptr;

namespace {

// Clears the stack below the frame of the caller. This must be the caller's last call: it is then a tail call, and no
// frame lies between the two. Otherwise, the unused bytes of later frames would contain leftovers of earlier calls, and
// make equal states look different.
[[gnu::noinline]] void* clean_stack(void* result = nullptr) {
  std::byte unused[512];
  std::memset(unused, 0, sizeof unused);
  asm volatile("" : : "r"(unused) : "memory");
  return result;
}

}  // namespace

World::World(const Program& program, const Config& config)
    : Execution({.threads = config.threads,
                 .shared = domain_space + fixture_space,
                 .in_use = domain_space + (program.fixture_size + 7) / 8 * 8},
                config.domain.block_bits),
      program_(program),
      config_(config),
      judge_(program, config.threads) {
  reset();
}

void World::reset() {
  const auto body = [](void* context, unsigned t) {
    auto& world = *static_cast<World*>(context);
    world.program_.body(world.fixture(), t, world.config_.episodes);
  };
  start(body, this);
  judge_.reset();
  mutation_states_ = {};
  const Here here(*this);
  program_.construct(fixture());
  if (names().addresses().empty()) {
    if (program_.name_fields != nullptr) program_.name_fields(fixture(), names());
    for (unsigned l = 0; l < program_.locks; ++l)
      names().add_whole_object(fixture() + l * program_.lock_size, program_.lock_size, l == 0 ? "lock" : "lock2");
  }
  if (program_.starts_near_limits) start_near_limits();
}

// Tickets and grants start just below 2^64, and so just below a multiple of 2^48. Pokes start just below 2^32, where a
// futex word wraps around.
void World::start_near_limits() {
  for (const auto address : names().addresses()) {
    const std::string_view field = names().word_at(address)->field;
    if (field == "ticket" || field == "grant") arena().write(address, 8, arena().read(address, 8) - 2);
    if (field == "counter") arena().write(address, 8, (std::uint64_t{1} << 32) - 2);
  }
}

void World::check_end() {
  if (program_.locked == nullptr) return;
  const Here here(*this);
  if (program_.locked(fixture()))
    judge_.violate(Property::unlocked, "every thread has left, but the lock does not look free");
}

int World::lock_at(std::uintptr_t address) const {
  const auto at = address - reinterpret_cast<std::uintptr_t>(arena().shared()) - domain_space;
  if (at >= program_.locks * program_.lock_size) return -1;
  return static_cast<int>(at / program_.lock_size);
}

bool World::dead(std::uintptr_t address) const {
  const int lock = lock_at(address);
  return lock >= 0 ? judge_.destroyed(static_cast<unsigned>(lock)) : arena().dead(address);
}

// --- steps ---

void World::resume(unsigned t, std::uint64_t result, bool gave_up) {
  const auto& op = thread(t).pending;
  if (gave_up &&
      (op.kind == Kind::await_until || (op.kind == Kind::park && op.operand == runtime::park_until_deadline)))
    judge_.give_up_wait(t);
  judge_.take_step(t);
  const Here here(*this);
  Execution::resume(t, result, gave_up);
  if (thread(t).finished) judge_.finish(t);
}

void World::note_change(unsigned t, std::uintptr_t address) {
  if (judge_.may_arrive(t) && lock_at(address) == judge_.standing(t).lock) judge_.arrive(t);
}

unsigned World::park_outcomes(unsigned t) const {
  return thread(t).sleep == Sleep::asleep && thread(t).pending.operand != runtime::park_forever ? 2 : 1;
}

void World::park(unsigned t, unsigned outcome) {
  if (!fall_asleep(t)) resume(t, 0, outcome == 1);
}

void World::unpark(unsigned t) {
  wake_sleepers(thread(t).pending.address);
  resume(t, 0);
}

std::uint64_t World::hash() const {
  std::uint64_t hash = Execution::hash() + judge_.hash();
  if (config_.mutation == nullptr) return hash;
  for (unsigned t = 0; t < threads(); ++t) {
    const auto& state = mutation_states_[t];
    if (thread(t).finished) continue;
    const auto delayed = state.has_delayed ? state.delayed.operand * 512 + state.delayed.address * 3 : 0;
    hash += scramble(scramble(state.remembered, t),
                     (state.remembers * 2u + state.has_delayed) * 256u + state.matches + delayed);
  }
  return hash;
}

std::size_t World::snapshot_size() const {
  return Execution::snapshot_size() + judge_.snapshot_size() +
         (config_.mutation != nullptr ? sizeof mutation_states_ : 0);
}

std::byte* World::save(std::byte* to) const {
  to = judge_.save(Execution::save(to));
  if (config_.mutation == nullptr) return to;
  std::memcpy(to, &mutation_states_, sizeof mutation_states_);
  return to + sizeof mutation_states_;
}

const std::byte* World::restore(const std::byte* from) {
  from = judge_.restore(Execution::restore(from));
  if (config_.mutation == nullptr) return from;
  std::memcpy(&mutation_states_, from, sizeof mutation_states_);
  return from + sizeof mutation_states_;
}

// --- operations, on a fiber ---

// Every path ends with a tail call, so that a thread that is switched out has no frame of this function (post).
std::uint64_t World::perform(const Operation& op) {
  if (self() == no_thread) [[unlikely]]
    return perform_between_steps(op);
  if (has_address(op.kind) && op.kind != Kind::unpark) expect_alive(op.address);
  if (config_.mutation != nullptr) [[unlikely]]
    return perform_mutated(op, config_.mutation);
  return post(op);
}

// For constructors, and for checks of a state from outside.
[[gnu::noinline]] std::uint64_t World::perform_between_steps(const Operation& op) {
  if (op.kind == Kind::init) arena().write(op.address, op.width, op.operand);
  return has_address(op.kind) ? arena().read(op.address, op.width) : 0;
}

[[gnu::noinline]] std::uint64_t World::perform_mutated(const Operation& op, const Mutation* mutation) {
  if (mutation == nullptr) return post(op);
  return mutate(*mutation, judge_.standing(self()).phase, names().word_at(op.address), mutation_states_[self()], op,
                [&](const Operation& o) { return perform_mutated(o, mutation->also); });
}

std::uint64_t World::post(const Operation& op) {
  if (is_await(op.kind) || op.kind == Kind::park) {
    judge_.begin_wait(self());
    stop_if_violated();
  }
  return Execution::post(op);
}

void World::touch(std::uintptr_t address) {
  if (self() == no_thread) return;
  expect_alive(address);
  if (config_.weak) post({.kind = Kind::touch, .address = address});
  clean_stack();
}

// A buggy algorithm may follow a wild pointer. The checker reports this before the access.
void World::expect_alive(std::uintptr_t address) {
  if (arena().contains(address) && !dead(address)) [[likely]]
    return;
  if (!arena().contains(address)) stop(Property::wild, thread_name(self()) + " followed an invalid pointer");
  stop(Property::destroyed, thread_name(self()) + " accessed an object that another thread has destroyed or freed");
}

void World::stop(Property property, std::string what) {
  judge_.violate(property, std::move(what));
  abandon();
}

void World::stop_if_violated() {
  if (judge_.violated()) abandon();
}

// --- objects of threads ---

void* World::own(unsigned type, std::size_t size, Naming naming) {
  void* const object = Execution::own(type, size, naming);
  if (object == nullptr) stop(Property::promise, "the own objects of a thread take more space than the checker has");
  return clean_stack(object);
}

void* World::enter_scope(unsigned type, std::size_t size, Naming naming) {
  void* const object = own(type, size, naming);
  arena().mark_alive(object, size);
  return clean_stack(object);
}

void* World::create(std::size_t size, Naming naming) {
  void* const object = Execution::create(size, naming);
  if (object == nullptr) stop(Property::promise, "a thread creates more objects than the checker has space for");
  return clean_stack(object);
}

void World::call_at_exit(void (*function)(void*), void* argument) {
  if (!Execution::call_at_exit(function, argument))
    stop(Property::promise, "a thread has more work to do at its end than the checker has space for");
}

// --- reports of the scenario ---

void World::acquiring(unsigned lock) {
  judge_.acquire(self(), lock);
  forget_matches();
  clean_stack();
}

void World::gave_way() {
  judge_.give_up(self());
  clean_stack();
}

void World::entered(unsigned lock) {
  judge_.enter(self(), lock);
  stop_if_violated();
  clean_stack();
}

void World::access(unsigned lock) { post({.kind = Kind::access, .operand = lock}); }

void World::releasing(unsigned lock) {
  judge_.release(self(), lock);
  forget_matches();
  clean_stack();
}

void World::released() {
  if (auto& state = mutation_states_[self()]; state.has_delayed) {
    state.has_delayed = false;
    post(state.delayed);
  }
  judge_.leave(self());
  clean_stack();
}

void World::forget_matches() {
  auto& state = mutation_states_[self()];
  state.matches = 0;
  state.remembers = false;
}

}  // namespace fairlock::check
