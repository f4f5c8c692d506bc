// SPDX-License-Identifier: Apache-2.0
#include "algorithm.hpp"

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fairlock/waiting/monitor.hpp>
#include <fairlock/waiting/spin.hpp>
#include <fairlock/waiting/yield.hpp>

namespace fairlock::python {

namespace {

template <class M>
M& in(void* memory) {
  return *static_cast<M*>(memory);
}
template <class M>
const M& in(const void* memory) {
  return *static_cast<const M*>(memory);
}

// What Python offers under a name of the catalogue: a capacitor with knobs that it turns, a fair one with its own
// patience, any other as it is.
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

// The skip of a capacitor where nobody says otherwise; -1: not a capacitor.

template <class L>
constexpr double usual_skip = -1;
template <class P, class S, class I, CapacitorOptions O>
constexpr double usual_skip<Capacitor<P, S, I, O>> = static_cast<double>(O.skip.times) / O.skip.of;

Chance chance_of(double p) {
  constexpr std::uint32_t of = 1'000'000'000;
  return {static_cast<std::uint32_t>(p * of + 0.5), of};
}

template <class M>
constexpr bool has_knobs = requires(M& mutex) { mutex.inner().set(std::uint32_t{1}, Chance{}); };

template <class M>
constexpr Algorithm of_lock(const char* name, const char* waiting, double skip = -1) {
  return {
      name,
      waiting,
      sizeof(M),
      alignof(M),
      1,
      skip,
      [](void* memory, const Knobs& knobs) {
        M* const made = new (memory) M;
        if constexpr (has_knobs<M>) made->inner().set(knobs.platoon, chance_of(knobs.skip));
      },
      [](void* memory, std::uint64_t) {
        if constexpr (has_knobs<M>) {
          const auto knobs = in<M>(memory).inner().knobs();
          (new (memory) M)->inner().set(knobs.platoon, knobs.skip);
        } else {
          new (memory) M;
        }
      },
      [](void* memory) { return in<M>(memory).try_lock(); },
      [](void* memory, const Patience& until) { return in<M>(memory).lock_until(until); },
      [](void* memory, std::uint64_t) { in<M>(memory).unlock(); },
      [](const void* memory) -> std::int64_t { return in<M>(memory).locked() ? 0 : 1; },
  };
}

template <class S>
constexpr Algorithm of_semaphore(const char* name, const char* waiting) {
  return {
      name,
      waiting,
      sizeof(S),
      alignof(S),
      S::max(),
      -1,
      [](void* memory, const Knobs& knobs) { new (memory) S(knobs.permits); },
      [](void* memory, std::uint64_t permits) { new (memory) S(permits); },
      [](void* memory) { return in<S>(memory).try_acquire(); },
      [](void* memory, const Patience& until) { return in<S>(memory).acquire_until(until); },
      [](void* memory, std::uint64_t permits) { in<S>(memory).release(permits); },
      [](const void* memory) { return in<S>(memory).value(); },
  };
}

}  // namespace

constexpr Algorithm gate = of_semaphore<GateSemaphore<DefaultPlatform>>("capacitor", "spin-then-park");
constexpr Algorithm fair_lock = of_lock<FairMutex>("fair", "spin-then-park");
constexpr Algorithm fair_semaphore = of_semaphore<FairCounter>("fair-semaphore", "spin-then-park");

namespace {

// What a name of the catalogue offers Python.
struct Offer {
  std::string_view name;
  const char* refusal;  // why it is not offered, or null
  std::vector<const Algorithm*> policies;
};

template <class E>
constexpr const char* refusal() {
  if (!E::abandonable) return "its waiters cannot leave the line, so there would be no timeouts and no Ctrl-C";
  if (!E::properties.thread_oblivious) return "it must be released by the thread that acquired it";
  if (!E::try_lock) return "it cannot be tried";
  if (!E::trivial) return "it has nodes of its own, which nobody would free";
  return nullptr;
}

template <class E, class W>
const Algorithm* algorithm_of() {
  if constexpr (requires { typename E::Lock; }) {
    if (std::is_same_v<W, SpinThenPark> && E::name == fair_lock.name) return &fair_lock;
    using Offered = Adjustable<typename E::Lock>;
    static constexpr Algorithm it = of_lock<Mutex<timed_form<typename Offered::type>, false>>(
        E::name.data(), W::name, usual_skip<typename E::Lock>);
    return &it;
  } else {
    if (std::is_same_v<W, SpinThenPark> && E::name == fair_semaphore.name) return &fair_semaphore;
    static constexpr Algorithm it =
        of_semaphore<typename Adjustable<typename E::Semaphore>::type>(E::name.data(), W::name);
    return &it;
  }
}

template <class W>
void add_locks(std::vector<Offer>& offers) {
  std::size_t i = 0;
  for_each_entry(Locks<CountingNative<W>>{}, [&]<class E>() {
    constexpr const char* no = refusal<E>();
    if (i == offers.size()) offers.push_back({E::name, no, {}});
    if constexpr (no == nullptr) offers[i].policies.push_back(algorithm_of<E, W>());
    ++i;
  });
}

template <class W>
void add_semaphores(std::vector<Offer>& offers) {
  std::size_t i = 0;
  for_each_entry(Semaphores<CountingNative<W>>{}, [&]<class E>() {
    if (i == offers.size()) offers.push_back({E::name, nullptr, {}});
    offers[i++].policies.push_back(algorithm_of<E, W>());
  });
}

const std::vector<Offer>& locks_offered() {
  static const std::vector<Offer> offers = [] {
    std::vector<Offer> all;
    add_locks<SpinThenPark>(all);
    add_locks<Park>(all);
    add_locks<Yield>(all);
    add_locks<Monitor>(all);
    add_locks<Spin>(all);
    return all;
  }();
  return offers;
}

const std::vector<Offer>& semaphores_offered() {
  static const std::vector<Offer> offers = [] {
    std::vector<Offer> all;
    add_semaphores<SpinThenPark>(all);
    add_semaphores<Park>(all);
    add_semaphores<Yield>(all);
    add_semaphores<Monitor>(all);
    add_semaphores<Spin>(all);
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

const Algorithm* find(const std::vector<Offer>& offers, const char* kind, const char* name, const char* waiting) {
  for (const auto& offer : offers) {
    if (offer.name != name) continue;
    if (offer.refusal != nullptr) {
      PyErr_Format(PyExc_ValueError, "the lock '%s' is not offered to Python, because %s; choose one of: %s", name,
                   offer.refusal, names(offers).c_str());
      return nullptr;
    }
    if (waiting == nullptr) return offer.policies.front();
    std::string policies;
    for (const Algorithm* algorithm : offer.policies) {
      if (std::string_view(algorithm->waiting) == waiting) return algorithm;
      (policies += policies.empty() ? "" : ", ") += algorithm->waiting;
    }
    PyErr_Format(PyExc_ValueError, "there is no way of waiting '%s'; choose one of: %s", waiting, policies.c_str());
    return nullptr;
  }
  PyErr_Format(PyExc_ValueError, "there is no %s '%s'; choose one of: %s", kind, name, names(offers).c_str());
  return nullptr;
}

}  // namespace

const Algorithm* lock_algorithm(const char* name, const char* waiting) {
  return find(locks_offered(), "lock", name, waiting);
}
const Algorithm* semaphore_algorithm(const char* name, const char* waiting) {
  return find(semaphores_offered(), "semaphore", name, waiting);
}

}  // namespace fairlock::python
