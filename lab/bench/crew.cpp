// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <numeric>
#include <system_error>

#include "other_work.hpp"

namespace bench {
namespace {

void pin(std::thread& thread, int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
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

// The kernel counts CPU time in ticks, so a short window may show slightly more of it than there was.
double Sample::processors() const { return std::min(cpu_seconds / elapsed, static_cast<double>(usable_cpus().size())); }

Crew::Crew(const Settings& settings) : settings_(settings), hogs_(settings.hogs), tallies_(settings.threads) {}

Sample Crew::measure(const std::function<void(unsigned)>& work, bool second_window) {
  start(work);
  open_gate(1);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return arrived_ == threads_.size(); });
  }
  std::this_thread::sleep_for(Seconds(settings_.warm_up));
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
    for (unsigned i = 0; i < settings_.threads; ++i) {
      threads_.emplace_back([this, i, &work] { body(i, work); });
      if (settings_.pin && !cpus.empty()) pin(threads_.back(), cpus[i % cpus.size()]);
    }
  } catch (const std::exception& error) {
    const auto started = std::to_string(threads_.size());
    open_gate(2);
    for (auto& thread : threads_) thread.join();
    refuse("--threads: this system allows no more than " + started + " just now (" + error.what() +
           "): ask for fewer, or raise `ulimit -u` and `ulimit -v`");
  }
}

void Crew::body(unsigned thread, const std::function<void(unsigned)>& work) {
  gate_.wait(0);
  if (gate_.load() == 2) return;
  {
    const std::lock_guard guard(mutex_);
    if (++arrived_ == settings_.threads) changed_.notify_one();
  }
  work(thread);
  const std::lock_guard guard(mutex_);
  ++gone_;
  changed_.notify_one();
}

void Crew::open_gate(int how) {
  gate_.store(how);
  gate_.notify_all();
}

void Crew::watch(Sample& sample, bool second_window) {
  const auto ours = [this] { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) + hogs_.spent(); };
  const OtherWork others(ours());
  const auto switches = context_switches();
  perf_.start();
  if (!second_window) window_.opens.store(ticks());
  const auto spent = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto from = Clock::now();
  const auto before = counts();
  sleep_one_window(from);
  const auto to = Clock::now();
  sample.counts = counts();
  sample.cpu_seconds = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - spent;
  if (!second_window) window_.closes.store(ticks());
  perf_.stop();
  sample.context_switches = context_switches() - switches;
  sample.other_work = others.share(ours());
  sample.elapsed = Seconds(to - from).count();
  for (std::size_t i = 0; i < before.size(); ++i) sample.counts[i] -= before[i];
}

void Crew::sleep_one_window(Clock::time_point begin) const {
  std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(Seconds(settings_.seconds)));
}

std::vector<std::uint64_t> Crew::counts() const {
  std::vector<std::uint64_t> all;
  all.reserve(tallies_.size());
  for (const auto& tally : tallies_) all.push_back(tally.value.load(std::memory_order_relaxed));
  return all;
}

// Somebody may sleep through a wake-up: better to say so than to wait for ever. But spinning threads that outnumber the
// processors may take long to get out of each other's way: while now and then one ends, all is well.
void Crew::end() {
  constexpr Seconds patience(60);
  over_.value.store(true);
  {
    std::unique_lock lock(mutex_);
    for (auto gone = gone_; gone_ != threads_.size(); gone = gone_)
      if (!changed_.wait_for(lock, patience, [&] { return gone_ != gone; }))
        fail(std::to_string(threads_.size() - gone_) + " of " + std::to_string(threads_.size()) +
             " threads still wait, and none has ended for a minute");
  }
  for (auto& thread : threads_) thread.join();
}

void Crew::write_done(Json& json, const Sample& sample) const {
  json.number("elapsed", sample.elapsed);
  json.number("episodes", sample.episodes());
  json.number("throughput", sample.rate(sample.episodes()));
  json.numbers("counts", sample.counts);
  json.number("fairness", slowest_to_fastest(sample.counts));
  json.number("jain", jain(sample.counts));
}

void Crew::write_spent(Json& json, const Sample& sample) const {
  json.number("context_switches", sample.context_switches);
  json.number("cpu_seconds", sample.cpu_seconds);
  json.number("processors", sample.processors());
  json.number("other_work", sample.other_work);
  perf_.write(json, static_cast<double>(sample.episodes()));
}

}  // namespace bench
