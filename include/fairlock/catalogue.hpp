// SPDX-License-Identifier: Apache-2.0
// The catalogue: the only list of algorithms. Python, the lab, the checker, the documentation and the tests iterate
// over it. A new lock is one header and one line here. A variation that a paper mentions is one line in Variations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <fairlock/capacitor.hpp>
#include <fairlock/episode.hpp>
#include <fairlock/lock/anderson.hpp>
#include <fairlock/lock/clh.hpp>
#include <fairlock/lock/fair.hpp>
#include <fairlock/lock/hapax.hpp>
#include <fairlock/lock/hapax_vw.hpp>
#include <fairlock/lock/hemlock.hpp>
#include <fairlock/lock/lifo.hpp>
#include <fairlock/lock/mcs.hpp>
#include <fairlock/lock/partitioned_ticket.hpp>
#include <fairlock/lock/qspinlock.hpp>
#include <fairlock/lock/reciprocating.hpp>
#include <fairlock/lock/tas.hpp>
#include <fairlock/lock/ticket.hpp>
#include <fairlock/lock/tidex.hpp>
#include <fairlock/lock/twa.hpp>
#include <fairlock/platform/domain.hpp>
#include <fairlock/semaphore/fair.hpp>
#include <fairlock/semaphore/lanes.hpp>
#include <fairlock/semaphore/ticket.hpp>
#include <fairlock/semaphore/twa.hpp>

namespace fairlock {
inline namespace v0 {

// A string as a template argument.
template <std::size_t N>
struct FixedString {
  char text[N];
  constexpr FixedString(const char (&from)[N]) { std::copy_n(from, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

template <FixedString Name, EpisodicLock L, DomainOptions D = DomainOptions{}>
struct Entry {
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view base = L::properties.name;
  static constexpr Properties properties = L::properties;
  static constexpr DomainOptions domain = D;  // the domain that the variation needs
  using Lock = L;

  static constexpr bool context_free = std::is_empty_v<typename L::Episode>;
  static constexpr bool try_lock = TryLock<L>;
  static constexpr bool abandonable = TimedLock<timed_form<L>>;
  static constexpr bool trivial = std::is_trivially_destructible_v<L> && std::is_default_constructible_v<L>;
  // Whether it can replace a POSIX mutex. It must fit into the 40 bytes of glibc's mutex, whose kind is at offset 16:
  // the lock before the kind, and the episode after it. It must not need memory allocation, a destructor or work at
  // thread exit. And it must be able to do what every POSIX mutex does.
  static constexpr bool preloadable = trivial && !properties.allocates && !properties.numbers_threads &&
                                      properties.thread_oblivious && try_lock && sizeof(L) <= 16 &&
                                      (context_free || sizeof(typename L::Episode) <= 8);
};

// A semaphore with the members of std::counting_semaphore.
template <class S>
concept CountingSemaphore = std::constructible_from<S, std::uint64_t> && requires(S semaphore, Deadline until) {
  { semaphore.acquire_until(until) } -> std::same_as<bool>;
  semaphore.acquire();
  { semaphore.try_acquire() } -> std::same_as<bool>;
  semaphore.release(std::uint64_t{1});
  { semaphore.value() } -> std::same_as<std::int64_t>;
};

template <FixedString Name, CountingSemaphore S, DomainOptions D = DomainOptions{}>
struct SemaphoreEntry {
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view base = S::properties.name;
  static constexpr Properties properties = S::properties;
  static constexpr DomainOptions domain = D;
  using Semaphore = S;
};

// A lock behind a capacitor, which has the scalable semaphore, the simplistic semaphore, or a semaphore of two lanes.
template <Platform P, class L, CapacitorOptions O = CapacitorOptions{}>
using Wrapped = Capacitor<P, TwaSemaphore<P, TwaSemaphoreOptions{.fast_path = true, .initial = O.platoon}>, L, O>;

template <Platform P, class L, CapacitorOptions O = CapacitorOptions{}>
using SimplyWrapped = Capacitor<P, TicketSemaphore<P, TicketSemaphoreOptions{.initial = O.platoon}>, L, O>;

template <Platform P, class L, CapacitorOptions O = CapacitorOptions{}>
using LaneWrapped = Capacitor<P, LanedSemaphore<P, LanedSemaphoreOptions{.lanes = 2, .initial = O.platoon}>, L, O>;

inline constexpr Chance mostly{99, 100};  // the fractional form of the Capacitor paper

template <Platform P>
using TtsLock = TasLock<P, TasOptions{.look_first = true}>;

template <class... E>
struct EntryList {};

// clang-format off: one entry per line
template <Platform P>
using Locks = EntryList<
    Entry<"tas", TasLock<P>>,
    Entry<"tts", TtsLock<P>>,
    Entry<"tts-backoff", TasLock<P, TasOptions{.look_first = true, .backoff = 4}>>,
    Entry<"ticket", TicketLock<P>>,
    Entry<"ticket-backoff", TicketLock<P, TicketOptions{.backoff = 2}>>,
    Entry<"partitioned-ticket", PartitionedTicketLock<P>>,
    Entry<"anderson", AndersonLock<P>>,
    Entry<"twa", TwaLock<P>>,
    Entry<"tidex", TidexLock<P>>,
    Entry<"hapax", HapaxLock<P>>,
    Entry<"hapax-vw", HapaxVwLock<P>>,
    Entry<"mcs", McsLock<P>>,
    Entry<"clh", ClhLock<P>>,
    Entry<"hemlock", Hemlock<P>>,
    Entry<"reciprocating", ReciprocatingLock<P>>,
    Entry<"lifo", LifoLock<P>>,
    Entry<"qspinlock", QspinLock<P>>,
    Entry<"fair", FairLock<P>>,
    Entry<"capacitor-reciprocating", Wrapped<P, ReciprocatingLock<P>>>,
    Entry<"capacitor-ticket", Wrapped<P, TicketLock<P>>>,
    Entry<"capacitor-lifo", Wrapped<P, LifoLock<P>>>,
    Entry<"capacitor-mcs", Wrapped<P, McsLock<P>>>,
    Entry<"capacitor-tts", Wrapped<P, TtsLock<P>>>,
    Entry<"capacitor-reciprocating-fractional", Wrapped<P, ReciprocatingLock<P>, CapacitorOptions{.skip = mostly}>>,
    Entry<"capacitor-ticket-fractional", Wrapped<P, TicketLock<P>, CapacitorOptions{.skip = mostly}>>,
    Entry<"capacitor-lifo-fractional", Wrapped<P, LifoLock<P>, CapacitorOptions{.skip = mostly}>>,
    Entry<"capacitor-mcs-fractional", Wrapped<P, McsLock<P>, CapacitorOptions{.skip = mostly}>>,
    Entry<"capacitor-tts-fractional", Wrapped<P, TtsLock<P>, CapacitorOptions{.skip = mostly}>>>;
// clang-format on

// clang-format off: one entry per line
template <Platform P>
using Variations = EntryList<
    Entry<"ticket/early-fetch", TicketLock<P, TicketOptions{.early_fetch = true}>>,
    Entry<"ticket/sequestered", TicketLock<P, TicketOptions{.layout = Layout::sequestered}>>,
    Entry<"anderson/2", AndersonLock<P, AndersonOptions{.threads = 2}>>,
    Entry<"partitioned-ticket/2", PartitionedTicketLock<P, PartitionedTicketOptions{.partitions = 2}>>,
    Entry<"twa/threshold-0", TwaLock<P, TwaOptions{.threshold = 0}>>,
    Entry<"twa/threshold-2", TwaLock<P, TwaOptions{.threshold = 2}>>,
    Entry<"twa/hash-17", TwaLock<P, TwaOptions{.hash = TicketHash::weyl17}>, DomainOptions{.slots = 2048}>,
    Entry<"twa/hash-pairs", TwaLock<P, TwaOptions{.hash = TicketHash::pairs}>>,
    Entry<"twa/hash-orbits", TwaLock<P, TwaOptions{.hash = TicketHash::orbits}>>,
    Entry<"twa/hash-gray", TwaLock<P, TwaOptions{.hash = TicketHash::gray}>>,
    Entry<"twa/hash-mixed", TwaLock<P, TwaOptions{.hash = TicketHash::mixed}>>,
    Entry<"twa/slots-by-cpus", TwaLock<P>, DomainOptions{.slots_by_cpus = true}>,
    Entry<"twa/hapax", TwaLock<P, TwaOptions{.far = Far::notice}>>,
    Entry<"twa/chain", TwaLock<P, TwaOptions{.far = Far::chain}>>,
    Entry<"twa/early-fetch", TwaLock<P, TwaOptions{.early_fetch = true}>>,
    Entry<"twa/sequestered", TwaLock<P, TwaOptions{.layout = Layout::sequestered}>>,
    Entry<"tidex/per-episode", TidexLock<P, TidexOptions{.identity = Identity::episode}>>,
    Entry<"hapax/hash-runs", HapaxLock<P, HapaxOptions{.hash = HapaxHash::runs}>>,
    Entry<"hapax/hash-mixed", HapaxLock<P, HapaxOptions{.hash = HapaxHash::mixed}>>,
    Entry<"hapax/memoised", HapaxLock<P, HapaxOptions{.memoise = true}>>,
    Entry<"hapax/new-block", HapaxLock<P, HapaxOptions{.after_collision = AfterCollision::new_block}>>,
    Entry<"hapax/second-block", HapaxLock<P, HapaxOptions{.after_collision = AfterCollision::second_block}>>,
    Entry<"hapax/if-arrived", HapaxLock<P, HapaxOptions{.notify = Notify::if_arrived}>>,
    Entry<"hapax/if-waited", HapaxLock<P, HapaxOptions{.notify = Notify::if_waited_or_arrived}>>,
    Entry<"hapax/early-fetch", HapaxLock<P, HapaxOptions{.early_fetch = true}>>,
    Entry<"hapax/straight-to-slot", HapaxLock<P, HapaxOptions{.looks = 0}>>,
    Entry<"hapax/sequestered", HapaxLock<P, HapaxOptions{.layout = Layout::sequestered}>>,
    Entry<"hapax/lanes-random", HapaxLock<P>, DomainOptions{.lanes = 4, .lane = Lane::random}>,
    Entry<"hapax/lanes-cpu", HapaxLock<P>, DomainOptions{.lanes = 64, .lane = Lane::cpu}>,
    Entry<"hapax/lanes-node", HapaxLock<P>, DomainOptions{.lanes = 8, .lane = Lane::node}>,
    Entry<"hapax/lanes-previous", HapaxLock<P>, DomainOptions{.lanes = 4, .lane = Lane::previous}>,
    Entry<"hapax/small-blocks", HapaxLock<P>, DomainOptions{.block_bits = 1}>,
    Entry<"hapax-vw/chain", HapaxVwLock<P, HapaxVwOptions{.collision = VwCollision::chain}>>,
    Entry<"hapax-vw/invisible", HapaxVwLock<P, HapaxVwOptions{.collision = VwCollision::wait_invisibly}>>,
    Entry<"hapax-vw/two-stage",
          HapaxVwLock<P, HapaxVwOptions{.collision = VwCollision::wait_invisibly, .visible_looks = 1000}>>,
    Entry<"hapax-vw/fence-cas", HapaxVwLock<P, HapaxVwOptions{.catch_late = VwCatch::fence_cas, .look_first = false}>>,
    Entry<"hapax-vw/polite", HapaxVwLock<P, HapaxVwOptions{.catch_late = VwCatch::fence_load_cas}>>,
    Entry<"hapax-vw/roll-back", HapaxVwLock<P, HapaxVwOptions{.roll_back = true}>>,
    Entry<"hapax-vw/early-fetch", HapaxVwLock<P, HapaxVwOptions{.early_fetch = true}>>,
    Entry<"hapax-vw/straight-to-slot", HapaxVwLock<P, HapaxVwOptions{.looks = 0}>>,
    Entry<"hapax-vw/memoised", HapaxVwLock<P, HapaxVwOptions{.memoise = true}>>,
    Entry<"hemlock/per-episode", Hemlock<P, HemlockOptions{.elements = Elements::per_episode}>>,
    Entry<"reciprocating/per-episode", ReciprocatingLock<P, ReciprocatingOptions{.elements = Elements::per_episode}>>,
    Entry<"qspinlock/few-numbers", QspinLock<P, QspinOptions{.enough_numbers = false}>, DomainOptions{.threads = 2}>,
    Entry<"fair/quota-0", FairLock<P, FairOptions{.quota = 0, .adapts = false}>>,
    Entry<"fair/quota-1", FairLock<P, FairOptions{.quota = 1, .adapts = false}>>,
    Entry<"fair/quota-2", FairLock<P, FairOptions{.quota = 2, .adapts = false}>>,
    Entry<"fair/adapts-quota-0", FairLock<P, FairOptions{.quota = 0}>>,
    Entry<"fair/adapts-quota-1", FairLock<P, FairOptions{.quota = 1}>>,
    Entry<"capacitor-tts/platoon-1", Wrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 1}>>,
    Entry<"capacitor-tts/platoon-2", Wrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-tts/platoon-3", Wrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 3}>>,
    Entry<"capacitor-tts/simplistic", SimplyWrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-tts/late-depart",
          SimplyWrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2, .late_depart = true}>>,
    Entry<"capacitor-tts/activated", SimplyWrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2, .activate = true}>>,
    Entry<"capacitor-tts/ordered-lanes", LaneWrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-tts/random-lanes", SimplyWrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2, .lanes = 2}>>,
    Entry<"capacitor-tts/together", Wrapped<P, TtsLock<P>, CapacitorOptions{.layout = Layout::together}>>,
    Entry<"capacitor-reciprocating/platoon-1", Wrapped<P, ReciprocatingLock<P>, CapacitorOptions{.platoon = 1}>>,
    Entry<"capacitor-reciprocating/platoon-2", Wrapped<P, ReciprocatingLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-reciprocating/platoon-3", Wrapped<P, ReciprocatingLock<P>, CapacitorOptions{.platoon = 3}>>,
    Entry<"capacitor-ticket/platoon-1", Wrapped<P, TicketLock<P>, CapacitorOptions{.platoon = 1}>>,
    Entry<"capacitor-ticket/platoon-2", Wrapped<P, TicketLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-ticket/platoon-3", Wrapped<P, TicketLock<P>, CapacitorOptions{.platoon = 3}>>,
    Entry<"capacitor-lifo/platoon-1", Wrapped<P, LifoLock<P>, CapacitorOptions{.platoon = 1}>>,
    Entry<"capacitor-lifo/platoon-2", Wrapped<P, LifoLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-lifo/platoon-3", Wrapped<P, LifoLock<P>, CapacitorOptions{.platoon = 3}>>,
    Entry<"capacitor-mcs/platoon-1", Wrapped<P, McsLock<P>, CapacitorOptions{.platoon = 1}>>,
    Entry<"capacitor-mcs/platoon-2", Wrapped<P, McsLock<P>, CapacitorOptions{.platoon = 2}>>,
    Entry<"capacitor-mcs/platoon-3", Wrapped<P, McsLock<P>, CapacitorOptions{.platoon = 3}>>,
    Entry<"capacitor-tts-fractional/platoon-2",
          SimplyWrapped<P, TtsLock<P>, CapacitorOptions{.platoon = 2, .skip = mostly}>>>;
// clang-format on

// clang-format off: one entry per line
template <Platform P>
using Semaphores = EntryList<
    SemaphoreEntry<"ticket-semaphore", TicketSemaphore<P>>,
    SemaphoreEntry<"twa-semaphore", TwaSemaphore<P>>,
    SemaphoreEntry<"twa-semaphore-futex", TwaSemaphore<P, TwaSemaphoreOptions{.threshold = 0, .far = Far::futex}>>,
    SemaphoreEntry<"twa-semaphore-chain", TwaSemaphore<P, TwaSemaphoreOptions{.threshold = 0, .far = Far::chain}>>,
    SemaphoreEntry<"fair-semaphore", FairSemaphore<P>>>;
// clang-format on

// clang-format off: one entry per line
template <Platform P>
using SemaphoreVariations = EntryList<
    SemaphoreEntry<"ticket-semaphore/lanes-2", LanedSemaphore<P>>,
    SemaphoreEntry<"twa-semaphore/fast-path", TwaSemaphore<P, TwaSemaphoreOptions{.fast_path = true}>>,
    SemaphoreEntry<"twa-semaphore/threshold-0", TwaSemaphore<P, TwaSemaphoreOptions{.threshold = 0}>>,
    SemaphoreEntry<"twa-semaphore/slots-2048", TwaSemaphore<P>, DomainOptions{.slots = 2048}>,
    SemaphoreEntry<"fair-semaphore/quota-1", FairSemaphore<P, FairSemaphoreOptions{.quota = 1, .adapts = false}>>,
    SemaphoreEntry<"fair-semaphore/adapts-quota-0", FairSemaphore<P, FairSemaphoreOptions{.quota = 0}>>>;
// clang-format on

template <class... E, class F>
void for_each_entry(EntryList<E...>, F&& visit) {
  (visit.template operator()<E>(), ...);
}

namespace detail {

template <FixedString Name, class List>
struct Find;

template <FixedString Name, class First, class... Rest>
struct Find<Name, EntryList<First, Rest...>> {
  static auto find() {
    if constexpr (First::name == Name.view()) return std::type_identity<First>{};
    else return Find<Name, EntryList<Rest...>>::find();
  }
};

template <FixedString Name>
struct Find<Name, EntryList<>> {
  static_assert(sizeof(Name) == 0, "fairlock's catalogue has no entry of this name: `fairlock list` shows the names");
};

}  // namespace detail

// The lock, or the semaphore, with this name in the catalogue.
template <Platform P, FixedString Name>
using lock_named = typename decltype(detail::Find<Name, Locks<P>>::find())::type::Lock;

template <Platform P, FixedString Name>
using semaphore_named = typename decltype(detail::Find<Name, Semaphores<P>>::find())::type::Semaphore;

}  // namespace v0
}  // namespace fairlock
