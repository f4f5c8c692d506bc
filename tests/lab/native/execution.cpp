// SPDX-License-Identifier: Apache-2.0
// An execution of the lab's runtime: 512 threads on fibers, over an arena of 65,536 shared words. No limit of the model
// checker applies here.
#include "runtime/execution.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/atomic.hpp"
#include "support/check.hpp"

using namespace fairlock::runtime;

namespace {

constexpr unsigned crowd = 512, rounds = 20;
constexpr std::size_t words = 1 << 16;

// The driver of these tests: operations take effect one after another, on the values in the arena.
class Machine : public Execution {
 public:
  explicit Machine(unsigned threads = crowd)
      : Execution({.threads = threads, .shared = words * 8, .own = 64, .part = 512}, 16) {
    current_ = this;
  }

  static Machine& current() { return *current_; }
  std::uint64_t perform(const Operation& op) { return post(op); }

  bool blocked(unsigned t) const {
    const auto& op = thread(t).pending;
    return thread(t).finished || thread(t).sleep == Sleep::asleep ||
           (is_await(op.kind) && !op.test(op.context, arena().read(op.address, op.width)));
  }

  void step(unsigned t) {
    const Operation op = thread(t).pending;
    if (op.kind == Kind::park && fall_asleep(t)) return;
    if (op.kind == Kind::unpark) wake_sleepers(op.address);
    if (op.kind == Kind::start || op.kind == Kind::park || op.kind == Kind::unpark) return resume(t, 0);
    const auto value = arena().read(op.address, op.width);
    if (op.kind == Kind::store) arena().write(op.address, op.width, op.operand);
    if (is_rmw(op.kind)) arena().write(op.address, op.width, updated(op, value));
    resume(t, value);
  }

  // Every thread takes a step in turn, until none can. Returns the number of steps.
  unsigned run(unsigned most = ~0u) {
    unsigned steps = 0;
    for (bool moved = true; moved && steps < most;) {
      moved = false;
      for (unsigned t = 0; t < threads() && steps < most; ++t) {
        if (blocked(t)) continue;
        step(t);
        moved = true;
        ++steps;
      }
    }
    return steps;
  }

 private:
  static inline Machine* current_ = nullptr;
};

using Word = Atomic<std::uint64_t, Machine>;

Word& word(unsigned i) { return reinterpret_cast<Word*>(Machine::current().arena().shared())[i]; }

// A ticket lock in the first two words, around a counter that is no RMW; and one word of the arena for each thread.
constexpr unsigned ticket = 0, grant = 1, counter = 2, first_own = words - crowd;

void take_turns(void*, unsigned thread) {
  for (unsigned i = 0; i < rounds; ++i) {
    const auto mine = word(ticket).fetch_add(1, std::memory_order_relaxed);
    const auto is_mine = [&](std::uint64_t now) { return now == mine; };
    word(grant).perform({
        .kind = Kind::await,
        .test = [](const void* c, std::uint64_t now) { return (*static_cast<decltype(is_mine) const*>(c))(now); },
        .context = &is_mine,
    });
    word(counter).store(word(counter).load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    word(grant).store(mine + 1, std::memory_order_release);
    word(first_own + thread).fetch_add(thread, std::memory_order_relaxed);
  }
}

bool all_took_turns(Machine& machine) {
  const auto value = [&](unsigned i) { return machine.arena().read(reinterpret_cast<std::uintptr_t>(&word(i)), 8); };
  bool right = machine.all_finished() && value(counter) == crowd * rounds;
  for (unsigned t = 0; t < crowd; ++t) right = right && value(first_own + t) == t * rounds;
  return right;
}

void many_threads_finish() {
  check::step("512 threads take turns");
  Machine machine;
  machine.start(&take_turns, nullptr);
  CHECK(!machine.all_finished());
  machine.run();
  CHECK(all_took_turns(machine));
}

// A snapshot rewinds memory and stacks: the same steps lead to the same state, and other steps to another.
void a_snapshot_rewinds() {
  check::step("a snapshot of 512 threads");
  Machine machine;
  machine.start(&take_turns, nullptr);
  machine.run(crowd * rounds);
  std::vector<std::byte> saved(machine.snapshot_size());
  CHECK(machine.save(saved.data()) == saved.data() + saved.size());
  const auto at_snapshot = machine.hash();

  const auto steps = machine.run();
  CHECK(all_took_turns(machine));
  const auto at_end = machine.hash();
  CHECK(at_end != at_snapshot);

  CHECK(machine.restore(saved.data()) == saved.data() + saved.size());
  CHECK(machine.hash() == at_snapshot);
  CHECK(!machine.all_finished());
  CHECK(machine.run() == steps);
  CHECK(all_took_turns(machine));
  CHECK(machine.hash() == at_end);
}

// Threads park while the low 32 bits of a word are 0, as with a futex; the last thread wakes them all.
void sleepers_wake() {
  check::step("sleepers");
  Machine machine;
  machine.start(
      [](void*, unsigned thread) {
        if (thread + 1 < crowd) {
          word(0).perform({.kind = Kind::park});
          word(1).fetch_add(1, std::memory_order_relaxed);
        } else {
          word(0).store(std::uint64_t{1} << 32, std::memory_order_relaxed);
          word(2).perform({.kind = Kind::park, .expected = 1});  // another value: it does not sleep
          word(0).perform({.kind = Kind::unpark});
        }
      },
      nullptr);
  for (unsigned t = 0; t + 1 < crowd; ++t)
    for (unsigned steps = 0; steps < 2; ++steps) machine.step(t);
  unsigned asleep = 0;
  for (unsigned t = 0; t < crowd; ++t) asleep += machine.thread(t).sleep == Sleep::asleep;
  CHECK(asleep == crowd - 1);
  machine.run();
  CHECK(machine.all_finished());
  CHECK(machine.arena().read(reinterpret_cast<std::uintptr_t>(&word(1)), 8) == crowd - 1);
}

struct Node {
  Word next;
  template <class V>
  void fields(V&& visit) const {
    visit("next", next);
  }
};

// Each thread has objects of its own and creates others, which traces name after the thread.
void objects_have_names() {
  check::step("objects");
  static Node* nodes[crowd];
  Machine machine;
  machine.start(
      [](void*, unsigned thread) {
        auto& self = Machine::current();
        auto* const own = static_cast<Node*>(self.own(0, sizeof(Node), naming_of<Node>()));
        nodes[thread] = static_cast<Node*>(self.create(sizeof(Node), naming_of<Node>()));
        CHECK(self.own(0, sizeof(Node), naming_of<Node>()) == own);
        self.call_at_exit([](void* node) { Machine::current().arena().mark_dead(node, sizeof(Node)); }, nodes[thread]);
        own->next.store(reinterpret_cast<std::uintptr_t>(nodes[thread]), std::memory_order_relaxed);
      },
      nullptr);
  machine.step(0);
  machine.step(crowd - 1);
  const auto& names = machine.names();
  CHECK(names.show(machine.thread(0).pending) == "A.next.store(A1) relaxed");
  CHECK(names.show(machine.thread(crowd - 1).pending) == "T511.next.store(T511#1) relaxed");
  CHECK(!machine.arena().dead(reinterpret_cast<std::uintptr_t>(nodes[0])));
  machine.run();
  CHECK(machine.all_finished());
  for (const auto* node : nodes) CHECK(machine.arena().dead(reinterpret_cast<std::uintptr_t>(node)));
}

void a_full_arena_gives_nothing() {
  check::step("a full arena");
  Machine machine(1);
  machine.start(
      [](void*, unsigned) {
        auto& self = Machine::current();
        CHECK(self.own(0, 64, nullptr) != nullptr);
        CHECK(self.own(1, 8, nullptr) == nullptr);
        CHECK(self.create(512 - 64, nullptr) != nullptr);
        CHECK(self.create(8, nullptr) == nullptr);
      },
      nullptr);
  machine.run();
  CHECK(machine.all_finished());
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  many_threads_finish();
  a_snapshot_rewinds();
  sleepers_wake();
  objects_have_names();
  a_full_arena_gives_nothing();
  return check::result();
}
