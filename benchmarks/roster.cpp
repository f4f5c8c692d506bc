#include "roster.hpp"

#include <mutex>
#include <type_traits>

#include <fairlock/fairlock.hpp>

#include "subjects.hpp"

namespace bench {
namespace {

constexpr const char* order_names[] = {"fifo", "bounded", "at-head", "barging", "lifo", "platoon", "long-term"};

template <class... Waiting, class F>
void for_each_policy(PolicyList<Waiting...>, F&& visit) {
  (visit.template operator()<Waiting>(), ...);
}

template <class Subject>
void add(Subjects& to, Description description) {
  to.push_back(std::make_unique<MeasuredSubject<Subject>>(std::move(description)));
}

template <class Entry, class Waiting>
Description described(Form form) {
  return {std::string(Entry::name), form, order_names[static_cast<int>(Entry::properties.order)], Waiting::name};
}

bool asked_for(const Options& options, std::string_view name) {
  return options.locks.empty() || contains(options.locks, name);
}

bool asked_for(const Options& options, const std::vector<std::string>& policies, std::string_view policy) {
  return contains(options.policies.empty() ? policies : options.policies, policy);
}

template <class Waiting>
void add_locks(Subjects& to, const Options& options, bool mutexes) {
  fairlock::for_each_entry(fairlock::Locks<fairlock::Native<Waiting>>{}, [&]<class Entry>() {
    using Lock = typename Entry::Lock;
    static_assert(Entry::properties.max_threads == 0 || Entry::properties.max_threads >= most_threads);
    if constexpr (!Waiting::sleeps || Entry::properties.parkable) {
      if (!asked_for(options, Entry::name)) return;
      add<Guarded<Lock>>(to, described<Entry, Waiting>(Form::guard));
      if constexpr (!Entry::context_free)  // without a context the two are the same code
        if (mutexes) add<Lockable<fairlock::Mutex<Lock>>>(to, described<Entry, Waiting>(Form::mutex));
    }
  });
}

template <class Waiting>
void add_semaphores(Subjects& to, const Options& options) {
  fairlock::for_each_entry(fairlock::Semaphores<fairlock::Native<Waiting>>{}, [&]<class Entry>() {
    if (asked_for(options, Entry::name))
      add<OnePermit<typename Entry::Semaphore>>(to, described<Entry, Waiting>(Form::semaphore));
  });
}

void add_pthread(Subjects& to) {
  add<Pthread<PTHREAD_PRIO_NONE>>(to, {"pthread-mutex", Form::reference});
  add<Pthread<PTHREAD_PRIO_INHERIT>>(to, {"pthread-mutex-pi", Form::reference});
}

// Threads that outnumber the processors would not get far with these: they can only spin.
void add_ck([[maybe_unused]] Subjects& to) {
#ifdef FAIRLOCK_BENCH_CK
  add<CkTicket>(to, {"ck-ticket", Form::reference});
  add<CkMcs>(to, {"ck-mcs", Form::reference});
  add<CkAnderson>(to, {"ck-anderson", Form::reference});
  add<CkClh>(to, {"ck-clh", Form::reference});
#endif
}

void add_standard_semaphores(Subjects& to) {
  add<PosixSemaphore>(to, {"sem_t", Form::reference});
  add<OnePermit<std::counting_semaphore<>>>(to, {"std-semaphore", Form::reference});
}

}  // namespace

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  const auto note = [&]<class Entry>() { names.emplace_back(Entry::name); };
  fairlock::for_each_entry(fairlock::Locks<fairlock::Native<Eager>>{}, note);
  fairlock::for_each_entry(fairlock::Semaphores<fairlock::Native<Eager>>{}, note);
  return names;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for_each_policy(Policies{}, [&]<class Waiting>() { names.emplace_back(Waiting::name); });
  return names;
}

void check_names(const Options& options) {
  const auto known = catalogue_names(), policies = policy_names();
  for (const auto& name : options.locks)
    if (!contains(known, name)) refuse("unknown lock '" + name + "' (locks and semaphores: " + joined(known) + ")");
  for (const auto& name : options.policies)
    if (!contains(policies, name)) refuse("unknown policy '" + name + "' (policies: " + joined(policies) + ")");
}

Subjects locks(const Options& options, const std::vector<std::string>& policies) {
  Subjects all;
  for_each_policy(Policies{}, [&]<class Waiting>() {
    if (asked_for(options, policies, Waiting::name)) add_locks<Waiting>(all, options, true);
  });
  if (all.empty()) return all;
  add_pthread(all);
  add<Lockable<std::mutex>>(all, {"std-mutex", Form::reference});
  if (asked_for(options, policies, Eager::name)) add_ck(all);
  return all;
}

Subjects semaphores(const Options& options, const std::vector<std::string>& policies) {
  Subjects all;
  for_each_policy(Policies{}, [&]<class Waiting>() {
    if (asked_for(options, policies, Waiting::name)) add_semaphores<Waiting>(all, options);
  });
  if (!all.empty()) add_standard_semaphores(all);
  return all;
}

Subjects locks_and_semaphores(const Options& options, const std::vector<std::string>& policies) {
  Subjects all;
  for_each_policy(Policies{}, [&]<class Waiting>() {
    if (!asked_for(options, policies, Waiting::name)) return;
    add_locks<Waiting>(all, options, false);
    add_semaphores<Waiting>(all, options);
  });
  if (all.empty()) return all;
  add_pthread(all);
  add_standard_semaphores(all);
  return all;
}

}  // namespace bench
