// SPDX-License-Identifier: Apache-2.0
#include "check/world.hpp"

#include <algorithm>
#include <bit>

#include "check/mutant.hpp"

namespace fairlock::check {

thread_local World* World::current_ = nullptr;

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

constexpr std::size_t clean_below = 768;  // deeper than any step of a scenario goes

std::string letter(unsigned t) { return std::string(1, static_cast<char>('A' + t)); }

__extension__ using Wide = unsigned __int128;

// Both halves of the product: sixteen bytes for each multiplication.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_bytes(std::uint64_t seed, const std::byte* bytes, std::size_t size) {
  std::uint64_t one = seed ^ 0x9e3779b97f4a7c15ULL, two = seed + 0xe7037ed1a0b428dbULL, word[4];
  std::size_t i = 0;
  for (; i + 32 <= size; i += 32) {
    std::memcpy(word, bytes + i, 32);
    one = fold(word[0] ^ 0xa0761d6478bd642fULL, word[1] ^ one);
    two = fold(word[2] ^ 0x8ebc6af09c88c6e3ULL, word[3] ^ two);
  }
  for (; i < size; i += 8) {
    std::memcpy(word, bytes + i, 8);
    one = fold(word[0] ^ 0x589965cc75374cc3ULL, one ^ 0x1d8e4e27c47d124fULL);
  }
  return scramble(one, two);
}

}  // namespace

World::World(const Program& program, const Config& config)
    : program_(program),
      config_(config),
      fixture_used_((program.fixture_size + 7) / 8 * 8),
      moving_used_(offsetof(Moving, threads) + config.threads * sizeof(Thread)),
      arena_(new (std::align_val_t{4096}) std::byte[arena_size]) {
  reset();
}

void World::reset() {
  std::memset(arena_.get(), 0, arena_size);
  moving = Moving{};
  const Here here(*this);
  program_.construct(fixture());
  if (names_.empty()) program_.visit(fixture(), *this);
  if (program_.starts_near_limits) start_near_limits();
  for (unsigned t = 0; t < config_.threads; ++t) {
    auto& thread = moving.threads[t];
    thread.sp = fibers_[t].prepare(&run_fiber, reinterpret_cast<void*>(std::uintptr_t{t}));
  }
}

// Tickets and grants start just below 2^64, and so just below a multiple of 2^48. Pokes start just below 2^32, where a
// futex word wraps around.
void World::start_near_limits() {
  for (const auto& [address, name] : names_) {
    const std::string_view field = name.field;
    if (field == "ticket" || field == "grant") write(address, 8, read(address, 8) - 2);
    if (field == "counter") write(address, 8, (std::uint64_t{1} << 32) - 2);
  }
}

void World::run_fiber(void* argument) {
  World& world = current();
  const auto t = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(argument));
  world.program_.body(world.fixture(), t, world.config_.episodes);
  auto& thread = world.moving.threads[t];
  while (thread.keeps > 0) {  // as at the end of a native thread
    const auto [free, spare] = thread.kept[--thread.keeps];
    free(spare);
  }
  thread.finished = true;
  fairlock_switch(&thread.sp, world.driver_sp_);
}

void World::resume(unsigned t, std::uint64_t result, bool gave_up) {
  auto& thread = moving.threads[t];
  thread.result = result;
  thread.gave_up = gave_up;
  if (gave_up && thread.phase == Phase::acquiring &&
      (thread.pending.kind == Kind::await_until ||
       (thread.pending.kind == Kind::park && thread.pending.operand == 1))) {
    // It leaves the line, and may be passed by. It may also come back to the place that it had, before those who stand
    // behind it.
    leave_line(moving.lines[thread.lock], t);
    moving.lines[thread.lock].returns |= static_cast<std::uint8_t>(1u << t);
    thread.placed = true;  // what it still does to the lock is no arrival
  }
  if (thread.leaving) {
    // Of a lock whoever releases empties it; a semaphore's permit is returned by the thread that has it.
    moving.lines[thread.lock].inside &= program_.permits == 1 ? 0u : ~(1u << t);
    thread.leaving = false;
  }
  const Here here(*this);
  self_ = t;
  // What earlier calls left below the stack pointer would come back as unused bytes of new frames, and make equal
  // states look different.
  std::memset(static_cast<std::byte*>(thread.sp) - clean_below, 0, clean_below);
  fairlock_switch(&driver_sp_, thread.sp);
  self_ = nobody;
  thread.version = ++versions_;
  thread.local_hash = local_hash(t);
}

// Everything that the thread will do is determined by its live stack (which holds its registers while it is switched
// out), its own words, and the arena.
std::uint64_t World::local_hash(unsigned t) {
  const auto& thread = moving.threads[t];
  if (thread.finished) return scramble(t, 0xf171);
  std::uint64_t hash = hash_bytes(t, static_cast<const std::byte*>(thread.sp), live_stack(t));
  hash = hash_bytes(hash, part(t), own_used_);
  if (config_.mutation)
    hash = scramble(hash,
                    scramble(thread.remembered,
                             (thread.remembers * 2u + thread.has_delayed) * 256u + thread.matches +
                                 (thread.has_delayed ? thread.delayed.operand * 512 + thread.delayed.address * 3 : 0)));
  return scramble(hash, thread.placed + thread.leaving * 2u + thread.steps * 4u + thread.created * 8u +
                            thread.out_of_scope * (std::uint64_t{1} << 32));
}

std::uint64_t World::post(const Operation& op) {
  auto& thread = moving.threads[self_];
  thread.pending = op;
  if ((is_await(op.kind) || op.kind == Kind::park) && thread.phase == Phase::acquiring && !thread.placed &&
      in_line(moving.lines[thread.lock], self_)) {
    thread.placed = true;
    check_bypass(self_);
  }
  fairlock_switch(&thread.sp, driver_sp_);
  return moving.threads[self_].result;
}

std::uint64_t World::perform(const Operation& op) {
  if (self_ == nobody) {  // between runs: a look from outside, or a constructor
    if (op.kind == Kind::init) write(op.address, op.width, op.operand);
    return has_address(op.kind) ? read(op.address, op.width) : 0;
  }
  if (has_address(op.kind) && op.kind != Kind::unpark) expect_owned(op.address);
  return perform(op, config_.mutation);
}

std::uint64_t World::perform(const Operation& op, const Mutation* mutation) {
  if (mutation == nullptr) return post(op);
  return mutate(*mutation, *this, moving.threads[self_], op,
                [&](const Operation& o) { return perform(o, mutation->also); });
}

void World::touch(std::uintptr_t address) {
  if (self_ == nobody) return;
  expect_owned(address);
  if (config_.weak) post({.kind = Kind::touch, .address = address});
}

void World::expect_owned(std::uintptr_t address) {
  if (address - base() >= arena_size) stop(Property::wild, letter(self_) + " followed a pointer to nowhere");
  if (dead(address)) stop(Property::destroyed, letter(self_) + " touched what another thread has destroyed or freed");
}

bool World::all_finished() const {
  for (unsigned t = 0; t < config_.threads; ++t)
    if (!moving.threads[t].finished) return false;
  return true;
}

std::uint64_t World::hash() const {
  std::uint64_t hash = moving.memory_hash;
  for (unsigned t = 0; t < config_.threads; ++t) {
    const auto& thread = moving.threads[t];
    hash += thread.local_hash;
    if (thread.sleep != Sleep::awake) hash += scramble(t, 0x51ee0 + static_cast<unsigned>(thread.sleep));
  }
  for (const auto& freed : moving.freed)
    if (freed.any())
      hash +=
          scramble(std::hash<std::bitset<112>>{}(freed), static_cast<std::uint64_t>(&freed - &moving.freed[0]) + 0x40);
  for (unsigned l = 0; l < program_.locks; ++l) {
    const auto& line = moving.lines[l];
    std::uint64_t order = line.length + line.destroyed * 8u + line.returns * 16u;
    for (unsigned i = 0; i < line.length; ++i) order = order * 8 + line.thread[i];
    hash += scramble(order, 0x10 + l);
    if (line.length != 0) {
      std::uint64_t counts = 0;
      if (program_.order == Order::platoon)
        for (unsigned i = 0; i < line.length; ++i) counts = counts * 61 + line.arrivals - line.place[line.thread[i]];
      for (const auto& row : line.bypassed)
        for (const auto count : row) counts = counts * 61 + count;
      if (counts != 0) hash += scramble(counts, 0x20 + l);
    }
  }
  return hash;
}

void World::violate(Property property, std::string what) {
  if (moving.violated != Property::none) return;
  moving.violated = property;
  moving.violation_text = static_cast<unsigned>(texts_.size());
  texts_.push_back(std::move(what));
}

Violation World::violation() const {
  if (moving.violated == Property::none) return {};
  return {moving.violated, texts_[moving.violation_text]};
}

void World::check_end() {
  if (program_.locked == nullptr) return;
  const Here here(*this);
  if (program_.locked(fixture())) violate(Property::unlocked, "every thread has left, but the lock does not look free");
}

// --- snapshots: Moving, the arena as far as it is used, and the live part of each stack ---

std::size_t World::live_stack(unsigned t) const {
  return static_cast<std::size_t>(fibers_[t].top() - static_cast<const std::byte*>(moving.threads[t].sp));
}

std::size_t World::snapshot_size() const {
  std::size_t size = moving_used_ + domain_space + fixture_used_;
  for (unsigned t = 0; t < config_.threads; ++t) size += own_size + moving.threads[t].created + live_stack(t);
  return size;
}

std::byte* World::save(std::byte* to) const {
  const auto copy = [&](const void* from, std::size_t size) {
    std::memcpy(to, from, size);
    to += size;
  };
  copy(&moving, moving_used_);
  copy(arena_.get(), domain_space + fixture_used_);
  for (unsigned t = 0; t < config_.threads; ++t) {
    copy(part(t), own_size + moving.threads[t].created);
    copy(moving.threads[t].sp, live_stack(t));
  }
  return to;
}

const std::byte* World::restore(const std::byte* from) {
  const auto copy = [&](void* to, std::size_t size) {
    std::memcpy(to, from, size);
    from += size;
  };
  std::array<std::uint64_t, max_threads> versions;
  std::array<std::uint16_t, max_threads> created;
  for (unsigned t = 0; t < config_.threads; ++t) {
    versions[t] = moving.threads[t].version;
    created[t] = moving.threads[t].created;
  }
  copy(&moving, moving_used_);
  copy(arena_.get(), domain_space + fixture_used_);
  for (unsigned t = 0; t < config_.threads; ++t) {
    const auto now = moving.threads[t].created;
    copy(part(t), own_size + now);  // always: what a thread created, others may have written
    // What was created since is cleared, so that it is created anew with the same contents.
    if (created[t] > now) std::memset(part(t) + own_size + now, 0, created[t] - now);
    if (moving.threads[t].version == versions[t]) from += live_stack(t);
    else copy(moving.threads[t].sp, live_stack(t));
  }
  return from;
}

// --- who stands where ---

int World::lock_at(std::uintptr_t address) const {
  const auto at = address - base() - domain_space;
  if (at >= program_.locks * program_.lock_size) return -1;
  return static_cast<int>(at / program_.lock_size);
}

bool World::dead(std::uintptr_t address) const {
  if (const int lock = lock_at(address); lock >= 0) return moving.lines[static_cast<unsigned>(lock)].destroyed != 0;
  const auto parts = address - reinterpret_cast<std::uintptr_t>(part(0));
  if (parts >= max_threads * part_size) return false;
  const auto owner = parts / part_size, at = parts % part_size;
  return at < own_size ? moving.threads[owner].finished || (moving.threads[owner].out_of_scope >> (at / 8) & 1)
                       : moving.freed[owner][(at - own_size) / 8];
}

void World::destroy(const void* object, std::size_t size) {
  const auto parts = reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(part(0));
  const auto first = (parts % part_size - own_size) / 8;
  for (std::size_t i = 0; i < (size + 7) / 8; ++i) moving.freed[parts / part_size].set(first + i);
}

unsigned World::park_outcomes(unsigned t) const {
  const auto& thread = moving.threads[t];
  return thread.sleep == Sleep::asleep && thread.pending.operand != 0 ? 2 : 1;
}

void World::park(unsigned t, unsigned outcome) {
  auto& thread = moving.threads[t];
  const auto& op = thread.pending;
  // A futex compares only the low 32 bits of a word.
  if (thread.sleep == Sleep::awake && read(op.address, 4) == static_cast<std::uint32_t>(op.expected)) {
    thread.sleep = Sleep::asleep;
    return;
  }
  thread.sleep = Sleep::awake;
  resume(t, 0, outcome == 1);
}

void World::unpark(unsigned t) {
  for (unsigned s = 0; s < config_.threads; ++s) {
    auto& sleeper = moving.threads[s];
    if (sleeper.sleep == Sleep::asleep && sleeper.pending.address == moving.threads[t].pending.address)
      sleeper.sleep = Sleep::woken;
  }
  resume(t, 0);
}

bool World::held() const {
  if (program_.permits == 255 || program_.waits_for_deadlines) return true;  // permits come from somewhere else
  for (unsigned t = 0; t < config_.threads; ++t) {
    const auto& thread = moving.threads[t];
    if (!thread.finished && (thread.phase == Phase::inside || thread.phase == Phase::releasing)) return true;
  }
  return false;
}

void World::keep(void (*free)(void*), void* spare) {
  auto& thread = moving.threads[self_];
  thread.kept[thread.keeps++] = {free, spare};
}

bool World::in_line(const Line& line, unsigned t) {
  return std::find(line.thread, line.thread + line.length, t) != line.thread + line.length;
}

void World::leave_line(Line& line, unsigned t) {
  unsigned kept = 0;
  for (unsigned i = 0; i < line.length; ++i)
    if (line.thread[i] != t) line.thread[kept++] = line.thread[i];
  line.length = static_cast<std::uint8_t>(kept);
  std::memset(line.thread + kept, 0, sizeof line.thread - kept);
}

// A thread arrives with the last RMW that changes the lock's own words before it begins to wait, or enters; at a
// capacitor with the first one, that takes its place in the order of platoons.
void World::note_change(unsigned t, std::uintptr_t address) {
  auto& thread = moving.threads[t];
  if (!bounds_bypass(program_.order)) return;
  if (thread.phase != Phase::acquiring || thread.placed || lock_at(address) != thread.lock) return;
  auto& line = moving.lines[thread.lock];
  if (program_.order == Order::platoon && in_line(line, t)) return;
  line.place[t] = line.arrivals++;
  leave_line(line, t);
  std::memset(line.bypassed[t], 0, sizeof line.bypassed[t]);
  line.thread[line.length++] = static_cast<std::uint8_t>(t);
}

void World::acquiring(unsigned lock) {
  auto& thread = moving.threads[self_];
  thread.phase = Phase::acquiring;
  thread.lock = static_cast<std::uint8_t>(lock);
  thread.placed = false;
  thread.matches = 0;
  thread.remembers = false;
}

void World::gave_way() {
  auto& thread = moving.threads[self_];
  leave_line(moving.lines[thread.lock], self_);
  thread.phase = Phase::outside;
}

void World::entered(unsigned lock) {
  auto& thread = moving.threads[self_];
  auto& line = moving.lines[lock];
  thread.phase = Phase::inside;
  thread.placed = false;
  const auto inside = static_cast<unsigned>(std::popcount(line.inside));
  if (inside >= program_.permits)
    return stop(Property::exclusion,
                letter(self_) + " entered while " +
                    (inside == 1 ? letter(static_cast<unsigned>(std::countr_zero(line.inside))) + " was"
                                 : std::to_string(inside) + " others were") +
                    " inside");
  line.inside |= static_cast<std::uint8_t>(1u << self_);
  if (!bounds_bypass(program_.order)) return;
  check_bypass(self_);
  unsigned ahead = 0;
  while (ahead < line.length && line.thread[ahead] != self_) ++ahead;
  if (inside + ahead < program_.permits) ahead = 0;  // of several that are admitted together, any may go in first
  for (unsigned i = 0; i < ahead; ++i) {
    const unsigned waiter = line.thread[i];
    if (line.returns >> self_ & 1) continue;
    auto& bypassed = line.bypassed[waiter][self_];
    const bool in_platoons = program_.order == Order::platoon;
    bypassed = in_platoons ? std::max(bypassed, static_cast<std::uint8_t>(line.place[self_] - line.place[waiter]))
                           : bypassed + 1;
    if (moving.threads[waiter].placed) check_bypass(waiter);
  }
  leave_line(line, self_);
  std::memset(line.bypassed[self_], 0, sizeof line.bypassed[self_]);
}

// Until it waits or enters, a thread may still arrive anew, and then what passed it by so far does not count.
void World::check_bypass(unsigned t) {
  const auto& row = moving.lines[moving.threads[t].lock].bypassed[t];
  for (unsigned by = 0; by < config_.threads; ++by)
    if (row[by] > program_.bypass)
      return stop(Property::order, letter(by) + " entered before " + letter(t) + ", which had arrived earlier" +
                                       (program_.order == Order::platoon ? ", in another platoon"
                                        : program_.bypass > 0            ? ", once more than the bound allows"
                                                                         : ""));
}

void World::access(unsigned lock) {
  moving.threads[self_].lock = static_cast<std::uint8_t>(lock);
  Operation op;
  op.kind = Kind::access;
  op.operand = lock;
  post(op);
}

void World::note_access(unsigned t) {
  auto& line = moving.lines[moving.threads[t].lock];
  ++line.accesses;
}

void World::releasing(unsigned lock) {
  auto& thread = moving.threads[self_];
  thread.leaving = true;
  thread.phase = Phase::releasing;
  thread.lock = static_cast<std::uint8_t>(lock);
  thread.matches = 0;
  thread.remembers = false;
}

void World::released() {
  auto& thread = moving.threads[self_];
  if (thread.has_delayed) {
    thread.has_delayed = false;
    post(thread.delayed);
  }
  moving.threads[self_].phase = Phase::outside;
}

void World::destroyed(unsigned lock) { moving.lines[lock].destroyed = 1; }

void World::stop(Property property, std::string what) {
  violate(property, std::move(what));
  auto& thread = moving.threads[self_];
  fairlock_switch(&thread.sp, driver_sp_);  // never resumed
}

// --- memory of a thread's own ---

void* World::own(unsigned type, std::size_t size, void (*name)(World&, const void*, const std::string&)) {
  for (const auto& [known, offset] : own_offsets_)
    if (known == type) return part(self_) + offset;
  const auto offset = own_used_;
  own_used_ += (size + 7) / 8 * 8;
  if (own_used_ > own_size)
    stop(Property::promise, "the scenario needs more words of a thread's own than the checker has room for");
  own_offsets_.emplace_back(type, offset);
  for (unsigned t = 0; t < config_.threads; ++t) {
    objects_.emplace_back(reinterpret_cast<std::uintptr_t>(part(t) + offset), letter(t));
    if (name) name(*this, part(t) + offset, letter(t));
  }
  return part(self_) + offset;
}

void* World::enter_scope(unsigned type, std::size_t size, void (*name)(World&, const void*, const std::string&)) {
  void* const object = own(type, size, name);
  const auto first = static_cast<std::size_t>(static_cast<std::byte*>(object) - part(self_)) / 8;
  moving.threads[self_].out_of_scope &= static_cast<std::uint16_t>(~(((1u << (size + 7) / 8) - 1) << first));
  return object;
}

void World::leave_scope(void* object, std::size_t size) {
  const auto first = static_cast<std::size_t>(static_cast<std::byte*>(object) - part(self_)) / 8;
  moving.threads[self_].out_of_scope |= static_cast<std::uint16_t>(((1u << (size + 7) / 8) - 1) << first);
}

void* World::create(std::size_t size, void (*name)(World&, const void*, const std::string&)) {
  auto& thread = moving.threads[self_];
  std::byte* const object = part(self_) + own_size + thread.created;
  thread.created = static_cast<std::uint16_t>(thread.created + (size + 7) / 8 * 8);
  if (own_size + thread.created > part_size)
    stop(Property::promise, "the scenario creates more elements than the checker has room for");
  const auto address = reinterpret_cast<std::uintptr_t>(object);
  for (const auto& [known, text] : objects_)
    if (known == address) return object;
  std::string label = letter(self_) + std::to_string((thread.created + size - 1) / ((size + 7) / 8 * 8));
  objects_.emplace_back(address, label);
  if (name) name(*this, object, label);
  return object;
}

// --- names ---

void World::name(const char* field, unsigned index, const void* address, unsigned width, const std::string& owner) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (names_.contains(at)) return;
  std::string text = owner.empty() ? field : owner + "." + field;
  if (index != nobody) text += "[" + std::to_string(index) + "]";
  names_[at] = {field, std::move(text), width, lock_at(at) >= 0};
  named_addresses_.push_back(at);
}

const World::Name* World::named(std::uintptr_t address) const {
  const auto found = names_.find(address);
  return found == names_.end() ? nullptr : &found->second;
}

std::string World::show_value(std::uint64_t value) const {
  if (value - base() < arena_size) {
    for (const auto& [address, text] : objects_)
      if (value - address < 2) return text + (value == address ? "" : "'");
    const int lock = lock_at(value);
    return lock >= 0 ? (lock == 0 ? "lock" : "lock2") : "?";
  }
  const unsigned bits = config_.domain.block_bits;
  if (bits >= 8 && value >> bits != 0 && value >> bits < 0x10000)
    return std::to_string(value >> bits) + ":" + std::to_string(value & ((std::uint64_t{1} << bits) - 1));
  return std::to_string(value);
}

std::string World::show(const Operation& op) const {
  static constexpr const char* kinds[] = {
      "load",   "store",  "init",   "exchange",      "fetch_add",   "fetch_or",       "fetch_and",
      "cas",    "fence",  "await",  "await_briefly", "await_until", "await_exchange", "park",
      "unpark", "access", "chance", "touch",         "start"};
  const auto order = [&]() -> const char* {
    switch (op.order) {
      case std::memory_order_acquire: return "acquire";
      case std::memory_order_release: return "release";
      case std::memory_order_acq_rel: return "acq_rel";
      case std::memory_order_seq_cst: return "seq_cst";
      default: return "relaxed";
    }
  }();
  const std::string kind = kinds[static_cast<unsigned>(op.kind)];
  if (op.kind == Kind::start) return "starts";
  if (op.kind == Kind::access) return "is inside";
  if (op.kind == Kind::chance) return "leaves it to chance";
  if (op.kind == Kind::fence) return "fence " + std::string(order);
  const Name* const name = named(op.address);
  std::string text = (name ? name->text : "?") + "." + kind + "(";
  if (op.kind == Kind::park) text += "while " + show_value(op.expected);
  else if (op.kind == Kind::cas) text += show_value(op.expected) + " -> " + show_value(op.operand);
  else if (op.kind != Kind::load && !(is_await(op.kind) && op.kind != Kind::await_exchange))
    text += show_value(op.operand);
  return text + ") " + order;
}

}  // namespace fairlock::check
