#include "crew.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <limits>

#include <fairlock/waiting/relax.hpp>

namespace bench {
namespace {

constexpr double trial_time = 300e-6;  // seconds
constexpr auto no_quota = std::numeric_limits<std::uint64_t>::max();

long processor_lost() {
  rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
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

Crew::Crew(unsigned threads, const std::vector<int>& cpus) : members_(threads), shared_(threads > cpus.size()) {
  for (unsigned i = 0; i < threads; ++i) {
    members_[i].thread = std::thread([this, i] { work(i); });
    if (shared_) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[i], &one);
    pthread_setaffinity_np(members_[i].thread.native_handle(), sizeof one, &one);
  }
}

Crew::~Crew() {
  subject_ = nullptr;
  begin();
  for (auto& member : members_) member.thread.join();
}

Outcome Crew::contend(Measured& subject, Seconds time) {
  subject_ = &subject;
  end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  over_ = false;
  trials_.clear();
  busy_.store(size());
  begin();
  if (shared_) {
    std::this_thread::sleep_for(time);
    stop_.store(true);
  }
  for (auto left = busy_.load(); left != 0; left = busy_.load()) busy_.wait(left);
  return outcome();
}

void Crew::begin() {
  turn_.fetch_add(1);
  turn_.notify_all();
}

void Crew::work(unsigned i) {
  auto& me = members_[i];
  for (unsigned turn = 0;; ++turn) {
    turn_.wait(turn);
    if (subject_ == nullptr) return;
    for (;;) {
      meet(true);
      if (over_) break;
      const auto lost = processor_lost();
      meet(shared_);  // all have their processors now
      me.from = Clock::now();
      me.done = subject_->contend(i, shared_ ? no_quota : subject_->quota, stop_, data_);
      me.to = Clock::now();
      me.disturbed = processor_lost() != lost;
      meet(true);
      if (i == 0) record();
    }
    if (busy_.fetch_sub(1) == 1) busy_.notify_one();
  }
}

// Nobody goes on before the last one is here. Yielding gives other work its turn now rather than during a trial.
void Crew::meet(bool yield) {
  const auto meeting = meetings_.load();
  if (arrived_.fetch_add(1) + 1 == size()) {
    arrived_.store(0);
    meetings_.store(meeting + 1);
  } else {
    while (meetings_.load() == meeting) yield ? std::this_thread::yield() : fairlock::relax();
  }
}

// By the first member, while the others wait for it at the next meeting.
void Crew::record() {
  Trial trial{0, {}, false, false};
  std::uint64_t total = 0;
  auto from = Clock::time_point::max(), to = Clock::time_point::min();
  for (const auto& member : members_) {
    total += member.done;
    trial.done.push_back(member.done);
    trial.disturbed |= member.disturbed && !shared_;
    from = std::min(from, member.from);
    to = std::max(to, member.to);
  }
  if (data_.counter != total)
    fail(subject_->description.name + " let two threads in: " + std::to_string(total) +
         " increments, but the counter is at " + std::to_string(data_.counter));
  const double time = Seconds(to - from).count();
  trial.pairs_per_second = static_cast<double>(total) / time;
  if (!trial.disturbed) {
    const double fitting = trial.pairs_per_second / size() * trial_time;
    subject_->quota = static_cast<std::uint64_t>(std::clamp(fitting, 20.0, 1e6));
  }
  // A trial that was over before the others had properly begun only serves to find the quota.
  trial.counts = !trial.disturbed && time > trial_time / 3;
  trials_.push_back(std::move(trial));
  data_.counter = 0;
  stop_.store(false);
  over_ = shared_ || Clock::now() >= end_;
}

Outcome Crew::outcome() {
  Outcome outcome{0, 0, static_cast<unsigned>(trials_.size()), 0};
  for (const auto& trial : trials_) outcome.disturbed += trial.disturbed;
  const auto counts = [](const Trial& trial) { return trial.counts; };
  if (std::any_of(trials_.begin(), trials_.end(), counts)) std::erase_if(trials_, std::not_fn(counts));
  std::vector<double> rates;
  std::vector<std::uint64_t> done(size());
  for (const auto& trial : trials_) {
    rates.push_back(trial.pairs_per_second);
    for (unsigned i = 0; i < size(); ++i) done[i] += trial.done[i];
  }
  outcome.pairs_per_second = median(std::move(rates));
  outcome.slowest_to_fastest = slowest_to_fastest(done);
  return outcome;
}

}  // namespace bench
