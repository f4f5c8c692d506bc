// The native benchmark: what an acquire and its release cost when nobody else wants the lock, and how many of them
// threads get done together when all do. JSON on stdout, progress on stderr; run.py makes a table of it.
//
// Every round measures every lock for a moment, each round beginning with another one, so that whatever disturbs the
// machine disturbs them all alike. Compare within a round, then take the median.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fairlock/fairlock.hpp>

#include "subjects.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "fairlock_bench: %s\n", why.c_str());
  std::exit(2);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// --- One lock under measurement -----------------------------------------------------------------

enum class Form { guard, mutex, reference };
constexpr const char* form_names[] = {"guard", "mutex", "reference"};
constexpr const char* order_names[] = {"fifo", "bounded", "barging", "lifo", "platoon", "long-term"};

struct Description {
  std::string name;
  Form form;
  const char* order;  // in which the catalogue's locks admit; null for the references
};

struct alignas(sector) Protected {
  std::uint64_t counter = 0;
};

class Measured {
 public:
  explicit Measured(Description description) : description(std::move(description)) {}
  virtual ~Measured() = default;
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;

  virtual void pairs(unsigned n) = 0;
  // Pairs until one thread has done its quota and says stop; returns how many this thread has done.
  virtual std::uint64_t contend(unsigned thread, std::uint64_t quota, std::atomic<bool>& stop, Protected& data) = 0;

  const Description description;
  std::uint64_t quota = 500;  // adapted to the lock's speed, so that all trials last about as long
};

// After this the compiler knows nothing of what any object holds, so it moves no access across.
inline void barrier() { asm volatile("" ::: "memory"); }

// The same object, but the compiler no longer knows which: nothing of its address is folded into the loop.
template <class T>
T& opaque(T& object) {
  T* pointer = &object;
  asm volatile("" : "+r"(pointer) : : "memory");
  return *pointer;
}

template <class Subject>
class MeasuredSubject final : public Measured {
  using Context = typename Subject::Context;

 public:
  explicit MeasuredSubject(Description description) : Measured(std::move(description)) {
    if constexpr (requires { subject_.first_context(0u); })
      for (unsigned i = 0; i < most_threads; ++i) contexts_[i].kept = subject_.first_context(i);
  }

  [[gnu::noinline]] void pairs(unsigned n) override {
    auto& subject = opaque(subject_);
    Context context = contexts_[0].kept;
    for (unsigned i = 0; i < n; ++i) {
      subject.episode(context, barrier);
      barrier();
    }
    contexts_[0].kept = context;
  }

  [[gnu::noinline]] std::uint64_t contend(unsigned thread, std::uint64_t quota, std::atomic<bool>& stop,
                                          Protected& data) override {
    auto& subject = opaque(subject_);
    Context context = contexts_[thread].kept;
    std::uint64_t done = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      subject.episode(context, [&] {
        ++data.counter;
        barrier();
      });
      barrier();
      if (++done == quota) stop.store(true, std::memory_order_relaxed);
    }
    contexts_[thread].kept = context;
    return done;
  }

 private:
  struct alignas(sector) Aligned { Context kept{}; };

  alignas(sector) Subject subject_{};
  Aligned contexts_[most_threads];
};

using Subjects = std::vector<std::unique_ptr<Measured>>;

template <class Subject>
void add(Subjects& to, Description description) {
  to.push_back(std::make_unique<MeasuredSubject<Subject>>(std::move(description)));
}

template <class Waiting>
Subjects all_subjects() {
  Subjects all;
  fairlock::for_each_entry(fairlock::Locks<fairlock::Native<Waiting>>{}, [&]<class Entry>() {
    using Lock = typename Entry::Lock;
    static_assert(Entry::properties.max_threads == 0 || Entry::properties.max_threads >= most_threads);
    Description description{std::string(Entry::name), Form::guard,
                            order_names[static_cast<int>(Entry::properties.order)]};
    add<Guarded<Lock>>(all, description);
    description.form = Form::mutex;  // without a context the two are the same code
    if constexpr (!Entry::context_free) add<Lockable<fairlock::Mutex<Lock>>>(all, description);
  });
  add<Pthread<PTHREAD_PRIO_NONE>>(all, {"pthread-mutex", Form::reference, nullptr});
  add<Pthread<PTHREAD_PRIO_INHERIT>>(all, {"pthread-mutex-pi", Form::reference, nullptr});
  add<Lockable<std::mutex>>(all, {"std-mutex", Form::reference, nullptr});
#ifdef FAIRLOCK_BENCH_CK
  if constexpr (std::is_same_v<Waiting, fairlock::Spin>) {  // theirs can only spin
    add<CkTicket>(all, {"ck-ticket", Form::reference, nullptr});
    add<CkMcs>(all, {"ck-mcs", Form::reference, nullptr});
    add<CkAnderson>(all, {"ck-anderson", Form::reference, nullptr});
    add<CkClh>(all, {"ck-clh", Form::reference, nullptr});
  }
#endif
  return all;
}

// --- Threads that contend -----------------------------------------------------------------------

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

struct Outcome {
  double pairs_per_second;
  double slowest_to_fastest;
  unsigned trials, disturbed;
};

// Threads that live as long as the benchmark. Each has a processor of its own if there are enough. They sleep between
// measurements; that they exist also keeps glibc from leaving out the atomics that a lone thread would not need.
//
// A measurement is many trials, each over in a fraction of a millisecond. One in which a thread lost its processor to
// other work says nothing of the lock, and does not count. If the threads have to share processors, losing one is part
// of the matter, and the measurement is a single trial.
class Crew {
 public:
  Crew(unsigned threads, const std::vector<int>& cpus)
      : members_(threads), shared_(threads > cpus.size()) {
    for (unsigned i = 0; i < threads; ++i) {
      members_[i].thread = std::thread([this, i] { work(i); });
      if (shared_) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpus[i], &one);
      pthread_setaffinity_np(members_[i].thread.native_handle(), sizeof one, &one);
    }
  }

  ~Crew() {
    subject_ = nullptr;
    begin();
    for (auto& member : members_) member.thread.join();
  }

  Outcome contend(Measured& subject, Seconds time) {
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

 private:
  struct alignas(sector) Member {
    std::thread thread;
    std::uint64_t done = 0;
    Clock::time_point from, to;
    bool disturbed = false;
  };

  struct Trial {
    double pairs_per_second;
    std::vector<std::uint64_t> done;  // by each thread
    bool disturbed, counts;
  };

  static constexpr double trial_time = 300e-6;  // seconds
  static constexpr auto no_quota = std::numeric_limits<std::uint64_t>::max();

  unsigned size() const { return static_cast<unsigned>(members_.size()); }

  void begin() {
    turn_.fetch_add(1);
    turn_.notify_all();
  }

  void work(unsigned i) {
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
  void meet(bool yield) {
    const auto meeting = meetings_.load();
    if (arrived_.fetch_add(1) + 1 == size()) {
      arrived_.store(0);
      meetings_.store(meeting + 1);
    } else {
      while (meetings_.load() == meeting) yield ? std::this_thread::yield() : fairlock::relax();
    }
  }

  // By the first member, while the others wait for it at the next meeting.
  void record() {
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
    if (data_.counter != total) {
      std::fprintf(stderr, "fairlock_bench: %s let two threads in: %llu increments, but the counter is at %llu\n",
                   subject_->description.name.c_str(), static_cast<unsigned long long>(total),
                   static_cast<unsigned long long>(data_.counter));
      std::_Exit(1);
    }
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

  Outcome outcome() {
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
    const auto [least, most] = std::minmax_element(done.begin(), done.end());
    outcome.pairs_per_second = median(std::move(rates));
    outcome.slowest_to_fastest = *most == 0 ? 0 : static_cast<double>(*least) / static_cast<double>(*most);
    return outcome;
  }

  static long processor_lost() {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
  }

  std::vector<Member> members_;
  const bool shared_;  // more threads than processors
  Measured* subject_ = nullptr;
  Clock::time_point end_;
  bool over_ = false;
  std::vector<Trial> trials_;
  alignas(sector) Protected data_;
  alignas(sector) std::atomic<bool> stop_{false};
  alignas(sector) std::atomic<unsigned> turn_{0};
  alignas(sector) std::atomic<unsigned> meetings_{0};
  std::atomic<unsigned> arrived_{0};
  alignas(sector) std::atomic<unsigned> busy_{0};
};

// The median of short batches: a batch in which the thread lost its processor does not count.
double uncontended(Measured& subject, Seconds time) {
  constexpr unsigned pairs = 1000;
  std::vector<double> batches;
  const auto end = Clock::now() + time;
  for (auto from = Clock::now(); from < end || batches.empty();) {
    subject.pairs(pairs);
    const auto now = Clock::now();
    batches.push_back(Seconds(now - from).count() / pairs * 1e9);
    from = now;
  }
  return median(std::move(batches));
}

// --- The command --------------------------------------------------------------------------------

struct Options {
  double seconds = 40;
  unsigned rounds = 41;
  unsigned threads = 2;
  std::vector<std::string> locks;  // empty: all
};

template <class Number>
Number number(std::string_view option, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) {
    char range[64];
    std::snprintf(range, sizeof range, "%g to %g", static_cast<double>(least), static_cast<double>(most));
    refuse(std::string(option) + ": not '" + std::string(text) + "' but a number from " + range);
  }
  return value;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option != "--seconds" && option != "--rounds" && option != "--threads" && option != "--locks")
      refuse("unknown option '" + std::string(option) + "' (options: --seconds, --rounds, --threads, --locks)");
    if (i + 1 == argc) refuse(std::string(option) + ": needs a value");
    const std::string_view value = argv[i + 1];
    if (option == "--seconds") options.seconds = number(option, value, 0.1, 3600.0);
    if (option == "--rounds") options.rounds = number(option, value, 1u, 10000u);
    if (option == "--threads") options.threads = number(option, value, 2u, most_threads);
    if (option == "--locks") {
      options.locks = split(value);
      if (options.locks.empty()) options.locks.emplace_back();  // the name of no lock
    }
  }
  return options;
}

// Keeps the locks that were asked for. The references always stay: they are what to compare with.
Subjects chosen(Subjects all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  for (const auto& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const auto& one) { return one->description.name == name; })) continue;
    std::string valid;
    for (const auto& one : all)
      if (one->description.form == Form::guard) valid += (valid.empty() ? "" : ", ") + one->description.name;
    refuse("unknown lock '" + name + "' (locks: " + valid + ")");
  }
  std::erase_if(all, [&](const auto& one) {
    return one->description.form != Form::reference &&
           std::find(names.begin(), names.end(), one->description.name) == names.end();
  });
  return all;
}

void print_list(const char* key, const std::vector<double>& values) {
  std::printf(", \"%s\": [", key);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.6g", i ? ", " : "", values[i]);
  std::printf("]");
}

#ifdef __clang__
constexpr const char* compiler = __VERSION__;  // says who it is
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

struct Samples {
  std::vector<double> nanoseconds, pairs_per_second, slowest_to_fastest;
};

int run(const Options& options) {
  const auto cpus = usable_cpus();
  const bool crowded = options.threads > cpus.size();  // then a waiter that only spins keeps the owner from running
  Subjects alone = chosen(all_subjects<fairlock::Spin>(), options.locks);
  Subjects yielding;
  if (crowded) yielding = chosen(all_subjects<fairlock::Yield>(), options.locks);
  Subjects& together = crowded ? yielding : alone;
  std::vector<Samples> alone_samples(alone.size()), together_samples(together.size());

  const double round_time = options.seconds / options.rounds;
  const Seconds alone_time(0.25 * round_time / static_cast<double>(alone.size()));
  const Seconds together_time(0.75 * round_time / static_cast<double>(together.size()));
  std::uint64_t trials = 0, disturbed = 0;
  Crew crew(options.threads, cpus);
  for (unsigned round = 0; round < options.rounds; ++round) {
    std::fprintf(stderr, "round %u of %u\n", round + 1, options.rounds);
    for (std::size_t k = 0; k < alone.size(); ++k) {
      const auto i = (k + round) % alone.size();
      alone_samples[i].nanoseconds.push_back(uncontended(*alone[i], alone_time));
    }
    for (std::size_t k = 0; k < together.size(); ++k) {
      const auto i = (k + round) % together.size();
      const auto outcome = crew.contend(*together[i], together_time);
      together_samples[i].pairs_per_second.push_back(outcome.pairs_per_second);
      together_samples[i].slowest_to_fastest.push_back(outcome.slowest_to_fastest);
      trials += outcome.trials;
      disturbed += outcome.disturbed;
    }
  }

  std::printf("{\"cpus\": %zu, \"threads\": %u, \"rounds\": %u, \"seconds\": %g, \"policy\": \"%s\","
              " \"disturbed\": %.3f, \"compiler\": \"%s\",\n",
              cpus.size(), options.threads, options.rounds, options.seconds,
              crowded ? fairlock::Yield::name : fairlock::Spin::name,
              static_cast<double>(disturbed) / static_cast<double>(trials), compiler);
#ifdef FAIRLOCK_BENCH_CK
  std::printf(" \"missing\": {},\n \"subjects\": [");
#else
  std::printf(" \"missing\": {\"ck\": \"not installed: apt-get install libck-dev\"},\n \"subjects\": [");
#endif
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const auto& about = alone[i]->description;
    std::printf("%s\n  {\"name\": \"%s\", \"form\": \"%s\"", i ? "," : "", about.name.c_str(),
                form_names[static_cast<int>(about.form)]);
    if (about.order) std::printf(", \"order\": \"%s\"", about.order);
    print_list("uncontended_ns", alone_samples[i].nanoseconds);
    if (i < together.size()) {  // the references that can only spin come last
      print_list("pairs_per_second", together_samples[i].pairs_per_second);
      print_list("slowest_to_fastest", together_samples[i].slowest_to_fastest);
    }
    std::printf("}");
  }
  std::printf("\n ]}\n");
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(bench::parse(argc, argv)); }
