// SPDX-License-Identifier: Apache-2.0
#include "harness/crew.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <system_error>

#include "harness/background_load.hpp"
#include "harness/errors.hpp"
#include "harness/statistics.hpp"

namespace bench {
namespace {

void pin(std::thread& thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

long context_switches() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

}  // namespace

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

std::uint64_t Sample::episodes() const { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }

// The kernel counts processor time in ticks, so it may report slightly more for a short window than there was.
double Sample::processors() const { return std::min(cpu_seconds / elapsed, static_cast<double>(usable_cpus().size())); }

Crew::Crew(const CommonOptions& options) : options_(options), hogs_(options.hogs), tallies_(options.threads) {}

Sample Crew::measure(const std::function<void(unsigned)>& work, bool second_window) {
  start(work);
  set_gate(open);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_ == threads_.size(); });
  }
  std::this_thread::sleep_for(Seconds(options_.warm_up));
  Sample sample;
  watch(sample, second_window);
  if (second_window) {
    window_.opens.store(ticks());
    sleep_one_window(Clock::now());
    window_.closes.store(ticks());
  }
  end();
  return sample;
}

void Crew::start(const std::function<void(unsigned)>& work) {
  const auto cpus = usable_cpus();
  try {
    for (unsigned i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this, i, &work] { body(i, work); });
      if (options_.pin && !cpus.empty()) pin(threads_.back(), cpus[i % cpus.size()]);
    }
  } catch (const std::exception& error) {
    const auto started = std::to_string(threads_.size());
    set_gate(cancelled);
    for (auto& thread : threads_) thread.join();
    refuse("--threads: this system allows no more than " + started + " threads at the moment (" + error.what() +
           "): use fewer, or raise `ulimit -u` and `ulimit -v`");
  }
}

void Crew::body(unsigned thread, const std::function<void(unsigned)>& work) {
  gate_.wait(closed);
  if (gate_.load() == cancelled) return;
  {
    const std::lock_guard guard(mutex_);
    if (++ready_ == options_.threads) changed_.notify_one();
  }
  work(thread);
  const std::lock_guard guard(mutex_);
  ++ended_;
  changed_.notify_one();
}

void Crew::set_gate(Gate gate) {
  gate_.store(gate);
  gate_.notify_all();
}

void Crew::watch(Sample& sample, bool second_window) {
  const auto own = [this] { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + hogs_.cpu_seconds(); };
  const BackgroundLoad background(own());
  const auto switches = context_switches();
  counters_.start();
  if (!second_window) window_.opens.store(ticks());
  const auto spent = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto from = Clock::now();
  const auto before = counts();
  sleep_one_window(from);
  const auto to = Clock::now();
  sample.counts = counts();
  sample.cpu_seconds = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - spent;
  if (!second_window) window_.closes.store(ticks());
  counters_.stop();
  sample.context_switches = context_switches() - switches;
  sample.background_load = background.share(own());
  sample.elapsed = Seconds(to - from).count();
  for (std::size_t i = 0; i < before.size(); ++i) sample.counts[i] -= before[i];
}

void Crew::sleep_one_window(Clock::time_point begin) const {
  std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(Seconds(options_.seconds)));
}

std::vector<std::uint64_t> Crew::counts() const {
  std::vector<std::uint64_t> counts;
  counts.reserve(tallies_.size());
  for (const auto& tally : tallies_) counts.push_back(tally.value.load(std::memory_order_relaxed));
  return counts;
}

// A lock that loses a wake-up leaves threads asleep: report that instead of waiting forever. But when there are more
// spinning threads than processors, they may take long to end. So the time limit restarts whenever a thread ends.
void Crew::end() {
  constexpr Seconds limit(60);
  over_.value.store(true);
  {
    std::unique_lock lock(mutex_);
    for (auto ended = ended_; ended_ != threads_.size(); ended = ended_)
      if (!changed_.wait_for(lock, limit, [&] { return ended_ != ended; }))
        fail(std::to_string(threads_.size() - ended_) + " of " + std::to_string(threads_.size()) +
             " threads still wait, and none has ended for a minute");
  }
  for (auto& thread : threads_) thread.join();
}

void Crew::write_episodes(Json& json, const Sample& sample) const {
  json.number("elapsed", sample.elapsed);
  json.number("episodes", sample.episodes());
  json.number("throughput", sample.rate(sample.episodes()));
  json.numbers("counts", sample.counts);
  json.number("fairness", slowest_to_fastest(sample.counts));
  json.number("jain", jain(sample.counts));
}

void Crew::write_costs(Json& json, const Sample& sample) const {
  json.number("context_switches", sample.context_switches);
  json.number("cpu_seconds", sample.cpu_seconds);
  json.number("processors", sample.processors());
  json.number("other_work", sample.background_load);
  counters_.write(json, static_cast<double>(sample.episodes()));
}

}  // namespace bench
