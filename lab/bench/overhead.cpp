// SPDX-License-Identifier: Apache-2.0
// Family `overhead`: what the loop that measures every lock costs. The same locks, each in that loop with one thread
// and empty sections, and in a loop written by hand, by turns. Both count their episodes in the critical section: in
// the one that is the witness of exclusion, and in the other what a loop to try a lock out would do there.
#include <pthread.h>

#include <fairlock/fairlock.hpp>

#include "batches.hpp"
#include "contest.hpp"
#include "family.hpp"

namespace bench {
namespace {

alignas(sector) std::uint64_t counter = 0;

[[gnu::noinline]] void pthread_by_hand(std::uint64_t episodes) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (std::uint64_t i = 0; i < episodes; ++i) {
    pthread_mutex_lock(&mutex);
    ++counter;
    pthread_mutex_unlock(&mutex);
  }
}

template <fairlock::FixedString Name>
[[gnu::noinline]] void by_hand(std::uint64_t episodes) {
  static fairlock::lock<Name, fairlock::Spin> lock;
  for (std::uint64_t i = 0; i < episodes; ++i) {
    const auto episode = lock.acquire();
    ++counter;
    lock.release(episode);
  }
}

struct Row {
  const char* lock;
  void (*hand)(std::uint64_t);
  std::unique_ptr<Measured> measured{};
  Batches loop_times{}, hand_times{};
};

const Entry& entry_of(const char* name) {
  for (const auto& entry : roster())
    if (entry.name == name && (entry.policy == nullptr || std::string_view(entry.policy) == fairlock::Spin::name))
      return entry;
  refuse(std::string("no lock of this name: ") + name);
}

void run(Arguments& arguments, Json& json) {
  const Settings settings(arguments, 1, 1);
  arguments.finish();

  Row rows[] = {
      {"pthread-mutex", pthread_by_hand},
      {"ticket", by_hand<"ticket">},
      {"twa", by_hand<"twa">},
      {"hapax", by_hand<"hapax">},
  };
  for (auto& row : rows) row.measured = entry_of(row.lock).make(Size{1, 1});
  Crew crew(settings);
  Protected data{Generator(Generator::Kind::none, settings.seed)};
  Placed<Member, place::member> placed(0u, Sections{}, settings.seed, data, true, crew.window(), crew.over(),
                                       crew.tally(0));
  Member& member = placed.value;
  member.quota = Batches::episodes;
  ticks_per_second();
  crew.measure([&](unsigned) {
    while (!crew.over().load(std::memory_order_relaxed)) {
      for (auto& row : rows) {
        row.loop_times.time(crew.window(), [&] { row.measured->work(member); });
        row.hand_times.time(crew.window(), [&] { row.hand(Batches::episodes); });
      }
    }
  });
  json.list("rows", [&] {
    for (const auto& row : rows) {
      json.object(nullptr, [&] {
        json.text("lock", row.lock);
        json.number("loop_ns", row.loop_times.nanoseconds());
        json.number("hand_ns", row.hand_times.nanoseconds());
      });
    }
  });
}

}  // namespace

const Family overhead{"overhead", "what the measuring loop costs beside one written by hand", run};

}  // namespace bench
