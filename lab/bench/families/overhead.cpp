// SPDX-License-Identifier: Apache-2.0
// Family `overhead`: the cost of the measuring loop. It measures each lock alternately in that loop, with one thread
// and empty sections, and in a handwritten loop. Both loops count their episodes in the critical section: the measuring
// loop has a witness of exclusion there, and a handwritten loop usually has a counter.
#include <pthread.h>

#include <fairlock/fairlock.hpp>

#include "families/family.hpp"
#include "harness/batch_timer.hpp"
#include "harness/errors.hpp"
#include "harness/lock_trial.hpp"

namespace bench {
namespace {

alignas(sector) std::uint64_t counter = 0;

[[gnu::noinline]] void handwritten_pthread(std::uint64_t episodes) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (std::uint64_t i = 0; i < episodes; ++i) {
    pthread_mutex_lock(&mutex);
    ++counter;
    pthread_mutex_unlock(&mutex);
  }
}

template <fairlock::FixedString Name>
[[gnu::noinline]] void handwritten(std::uint64_t episodes) {
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
  std::unique_ptr<MeasuringLoop> loop{};
  BatchTimer loop_times{}, hand_times{};
};

const Entry& entry_named(const char* name) {
  for (const auto& entry : roster())
    if (entry.name == name && (entry.policy == nullptr || std::string_view(entry.policy) == fairlock::Spin::name))
      return entry;
  refuse(std::string("no lock has this name: ") + name);
}

void run(Arguments& arguments, Json& json) {
  const CommonOptions options(arguments, 1, 1);
  arguments.finish();

  Row rows[] = {
      {"pthread-mutex", handwritten_pthread},
      {"ticket", handwritten<"ticket">},
      {"twa", handwritten<"twa">},
      {"hapax", handwritten<"hapax">},
  };
  for (auto& row : rows) row.loop = entry_named(row.lock).make_loop(Size{1, 1});
  Crew crew(options);
  ProtectedData data{Generator(Generator::Kind::none, options.seed)};
  Placed<Contender, place::contender> placed(0u, Sections{}, options.seed, data, true, crew.window(), crew.over(),
                                             crew.tally(0));
  Contender& contender = placed.value;
  contender.quota = BatchTimer::episodes;
  ticks_per_second();
  crew.measure([&](unsigned) {
    while (!crew.over().load(std::memory_order_relaxed)) {
      for (auto& row : rows) {
        row.loop_times.time(crew.window(), [&] { row.loop->contend(contender); });
        row.hand_times.time(crew.window(), [&] { row.hand(BatchTimer::episodes); });
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

const Family overhead{"overhead", "the cost of the measuring loop, compared with a handwritten loop", run};

}  // namespace bench
