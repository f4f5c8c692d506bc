// SPDX-License-Identifier: Apache-2.0
#include "algorithm_table.hpp"

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fairlock/waiting/policies.hpp>

namespace fairlock::python {

namespace {

template <class M>
M& object_in(void* memory) {
  return *static_cast<M*>(memory);
}
template <class M>
const M& object_in(const void* memory) {
  return *static_cast<const M*>(memory);
}

// The type that Python uses for a catalogue entry. The knobs of a capacitor are set at run time, and a fair line has
// Python's quota and patience. Any other entry is unchanged.
template <class L>
struct Adjustable {
  using type = L;
};
template <class P, FairOptions O>
struct Adjustable<FairLock<P, O>> {
  using type = PythonFairLock<P>;
};
template <class P, FairSemaphoreOptions O>
struct Adjustable<FairSemaphore<P, O>> {
  using type = PythonFairSemaphore<P>;
};
template <class P, class S, class I, CapacitorOptions O>
struct Adjustable<Capacitor<P, S, I, O>> {
  static constexpr CapacitorOptions at_run_time() {
    CapacitorOptions options = O;
    options.at_run_time = true;
    return options;
  }
  using type = Capacitor<P, GateSemaphore<P>, I, at_run_time()>;
};

template <class L>
constexpr double default_skip = -1;
template <class P, class S, class I, CapacitorOptions O>
constexpr double default_skip<Capacitor<P, S, I, O>> = static_cast<double>(O.skip.times) / O.skip.of;

Chance chance_of(double p) {
  constexpr std::uint32_t of = 1'000'000'000;
  return {static_cast<std::uint32_t>(p * of + 0.5), of};
}

template <class M>
constexpr bool has_knobs = requires(M& mutex) { mutex.inner().set(std::uint32_t{1}, Chance{}); };

template <class M>
constexpr Algorithm from_lock(const char* name, const char* policy, double skip = -1) {
  return {
      name,
      policy,
      sizeof(M),
      alignof(M),
      1,
      skip,
      [](void* memory, const Knobs& knobs) {
        M* const mutex = new (memory) M;
        if constexpr (has_knobs<M>) mutex->inner().set(knobs.platoon, chance_of(knobs.skip));
      },
      [](void* memory, std::uint64_t) {
        if constexpr (has_knobs<M>) {
          const auto knobs = object_in<M>(memory).inner().knobs();
          (new (memory) M)->inner().set(knobs.platoon, knobs.skip);
        } else {
          new (memory) M;
        }
      },
      [](void* memory) { return object_in<M>(memory).try_lock(); },
      [](void* memory, const InterruptibleWait& until) { return object_in<M>(memory).lock_until(until); },
      [](void* memory, std::uint64_t) { object_in<M>(memory).unlock(); },
      [](const void* memory) -> std::int64_t { return object_in<M>(memory).locked() ? 0 : 1; },
  };
}

template <class S>
constexpr Algorithm from_semaphore(const char* name, const char* policy) {
  return {
      name,
      policy,
      sizeof(S),
      alignof(S),
      S::max(),
      -1,
      [](void* memory, const Knobs& knobs) { new (memory) S(knobs.permits); },
      [](void* memory, std::uint64_t permits) { new (memory) S(permits); },
      [](void* memory) { return object_in<S>(memory).try_acquire(); },
      [](void* memory, const InterruptibleWait& until) { return object_in<S>(memory).acquire_until(until); },
      [](void* memory, std::uint64_t permits) { object_in<S>(memory).release(permits); },
      [](const void* memory) { return object_in<S>(memory).value(); },
  };
}

}  // namespace

constexpr Algorithm gate = from_semaphore<GateSemaphore<DefaultPlatform>>("capacitor", DefaultPolicy::name);
constexpr Algorithm fair_lock = from_lock<FairMutex>("fair", DefaultPolicy::name);
constexpr Algorithm fair_semaphore = from_semaphore<FairCounter>("fair-semaphore", DefaultPolicy::name);

namespace {

// An entry of the catalogue.
struct Offer {
  std::string_view name;
  const char* refusal;                       // why Python does not offer it, or null
  std::vector<const Algorithm*> algorithms;  // one for each policy
};

template <class E>
constexpr const char* refusal() {
  if (!E::abandonable) return "its waiters cannot leave the line, so timeouts and Ctrl-C would not work";
  if (!E::properties.thread_oblivious) return "only the thread that acquired it may release it";
  if (!E::try_lock) return "it has no try_acquire(), so acquire(blocking=False) would not work";
  if (!E::trivial) return "it allocates nodes, which no thread would free";
  return nullptr;
}

template <class E, class W>
const Algorithm* algorithm_of() {
  if constexpr (requires { typename E::Lock; }) {
    if (std::is_same_v<W, DefaultPolicy> && E::name == fair_lock.name) return &fair_lock;
    using Offered = Adjustable<typename E::Lock>;
    static constexpr Algorithm algorithm = from_lock<Mutex<timed_form<typename Offered::type>, false>>(
        E::name.data(), W::name, default_skip<typename E::Lock>);
    return &algorithm;
  } else {
    if (std::is_same_v<W, DefaultPolicy> && E::name == fair_semaphore.name) return &fair_semaphore;
    static constexpr Algorithm algorithm =
        from_semaphore<typename Adjustable<typename E::Semaphore>::type>(E::name.data(), W::name);
    return &algorithm;
  }
}

template <class W>
void add_locks(std::vector<Offer>& offers) {
  std::size_t i = 0;
  for_each_entry(Locks<CountingNative<W>>{}, [&]<class E>() {
    constexpr const char* reason = refusal<E>();
    if (i == offers.size()) offers.push_back({E::name, reason, {}});
    if constexpr (reason == nullptr) offers[i].algorithms.push_back(algorithm_of<E, W>());
    ++i;
  });
}

template <class W>
void add_semaphores(std::vector<Offer>& offers) {
  std::size_t i = 0;
  for_each_entry(Semaphores<CountingNative<W>>{}, [&]<class E>() {
    if (i == offers.size()) offers.push_back({E::name, nullptr, {}});
    offers[i++].algorithms.push_back(algorithm_of<E, W>());
  });
}

const std::vector<Offer>& locks_offered() {
  static const std::vector<Offer> offers = [] {
    std::vector<Offer> all;
    for_each_policy(Policies{}, [&]<class W>() { add_locks<W>(all); });
    return all;
  }();
  return offers;
}

const std::vector<Offer>& semaphores_offered() {
  static const std::vector<Offer> offers = [] {
    std::vector<Offer> all;
    for_each_policy(Policies{}, [&]<class W>() { add_semaphores<W>(all); });
    return all;
  }();
  return offers;
}

std::string names(const std::vector<Offer>& offers) {
  std::string text;
  for (const auto& offer : offers)
    if (offer.refusal == nullptr) (text += text.empty() ? "" : ", ") += offer.name;
  return text;
}

// The message has one line, whatever characters the unknown name contains.
void raise_unknown(const char* what, const char* given, const std::string& valid) {
  PyObject* const text = PyUnicode_FromString(given);
  if (text != nullptr)
    PyErr_Format(PyExc_ValueError, "unknown %s %.100R; choose one of: %s", what, text, valid.c_str());
  Py_XDECREF(text);
}

const Algorithm* find(const std::vector<Offer>& offers, const char* what, const char* name, const char* policy) {
  for (const auto& offer : offers) {
    if (offer.name != name) continue;
    if (offer.refusal != nullptr) {
      PyErr_Format(PyExc_ValueError, "Python cannot use the lock '%s', because %s; choose one of: %s", name,
                   offer.refusal, names(offers).c_str());
      return nullptr;
    }
    std::string policies;
    for (const Algorithm* algorithm : offer.algorithms) {
      if (std::string_view(algorithm->policy) == policy) return algorithm;
      (policies += policies.empty() ? "" : ", ") += algorithm->policy;
    }
    raise_unknown("waiting policy", policy, policies);
    return nullptr;
  }
  raise_unknown(what, name, names(offers));
  return nullptr;
}

}  // namespace

const Algorithm* lock_algorithm(const char* name, const char* policy) {
  return find(locks_offered(), "lock algorithm", name, policy);
}
const Algorithm* semaphore_algorithm(const char* name, const char* policy) {
  return find(semaphores_offered(), "semaphore algorithm", name, policy);
}

}  // namespace fairlock::python
