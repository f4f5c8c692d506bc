// SPDX-License-Identifier: Apache-2.0
// Sizes and addresses: what the headers and the catalogue promise about memory.
#include <type_traits>

#include <fairlock/fairlock.hpp>

#include "support/any_lock.hpp"
#include "support/check.hpp"

using namespace fairlock;

template <Layout Where>
using Ticket = TicketLock<Native<>, TicketOptions{.layout = Where}>;
constexpr std::size_t sector = Native<>::sector;

// One word or two words, and an episode in the body only if the lock has one.
static_assert(sizeof(lock<"tas">) == 4 && sizeof(mutex<"tas">) == 4);
static_assert(sizeof(lock<"qspinlock">) == 4 && sizeof(mutex<"qspinlock">) == 4);
static_assert(sizeof(lock<"ticket">) == 16 && sizeof(mutex<"ticket">) == 16);
static_assert(sizeof(lock<"twa">) == 16 && sizeof(mutex<"twa">) == 16);
static_assert(sizeof(lock<"fair">) == 16 && sizeof(mutex<"fair">) == 16);
static_assert(sizeof(lock<"hapax">) == 16 && sizeof(mutex<"hapax">) == 24);
static_assert(sizeof(lock<"hapax-vw">) == 16 && sizeof(mutex<"hapax-vw">) == 24);
static_assert(sizeof(lock<"tidex">) == 16 && sizeof(mutex<"tidex">) == 24);
static_assert(sizeof(lock<"mcs">) == sizeof(void*) && sizeof(lock<"clh">) == sizeof(void*));
static_assert(sizeof(lock<"hemlock">) == sizeof(void*) && sizeof(mutex<"hemlock">) == sizeof(void*));
static_assert(sizeof(lock<"reciprocating">) == sizeof(void*) && sizeof(lock<"lifo">) == sizeof(void*));

// Fields on separate sectors.
static_assert(sizeof(Ticket<Layout::sequestered>) == 2 * sector && alignof(Ticket<Layout::sequestered>) == sector);
static_assert(sizeof(PartitionedTicketLock<Native<>, PartitionedTicketOptions{.partitions = 4}>) == 5 * sector);
static_assert(sizeof(AndersonLock<Native<>, AndersonOptions{.threads = 4}>) == 5 * sector);

// A capacitor and its lock, each on a sector, and an episode only if an arrival has a choice.
static_assert(sizeof(lock<"capacitor-tts">) == 2 * sector && sizeof(mutex<"capacitor-tts">) == 2 * sector);
static_assert(sizeof(lock<"capacitor-tts-fractional">::Episode) == 4);

// The waiting policy takes no space in a lock, and policies share a domain.
static_assert(sizeof(lock<"twa", Spin>) == sizeof(lock<"twa", Yield>));
static_assert(std::is_same_v<decltype(Native<Spin>::domain()), decltype(Native<Yield>::domain())>);

namespace {

template <class L>
void places(std::vector<std::uintptr_t>& at) {
  L lock{};
  lock.fields([&]<class... Rest>(const char*, const Rest&... rest) {
    at.push_back(reinterpret_cast<std::uintptr_t>(&(rest, ...)));
  });
}

void fields() {
  std::vector<std::uintptr_t> together, apart;
  places<Ticket<Layout::together>>(together);
  places<Ticket<Layout::sequestered>>(apart);
  CHECK(together.size() == 2 && together[1] == together[0] + 8);
  CHECK(apart.size() == 2 && apart[0] % sector == 0 && apart[1] % sector == 0 && apart[0] != apart[1]);
}

void domain() {
  auto& domain = Native<>::domain();
  const auto at = [](const auto& what) { return reinterpret_cast<std::uintptr_t>(&what); };
  CHECK(std::size(domain.counters) == 4096 && std::size(domain.notices) == 4096 && std::size(domain.visible) == 4096);
  CHECK(at(domain.counters) % 4096 == 0 && at(domain.notices) % 4096 == 0 && at(domain.visible) % 4096 == 0);
  CHECK(at(domain.lanes[1]) - at(domain.lanes[0]) == sector);
  CHECK(at(domain.queue_nodes[1]) - at(domain.queue_nodes[0]) == sector);
  // Different options have different domains: small arrays must not replace large ones.
  CHECK(static_cast<void*>(&Native<Yield, DomainOptions{.slots = 2048}>::domain()) != &domain);

  using ByCpus = Native<Yield, DomainOptions{.slots_by_cpus = true}>;
  const auto slots = ByCpus::slots();
  CHECK(slots == slots_for(std::thread::hardware_concurrency(), 4096) && ByCpus::slots() == slots);
  CHECK(Native<>::slots() == 4096);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(argc, argv);
  check::step("fields"), fields();
  check::step("domain"), domain();
  for (const AnyLock& kind : every_lock()) {
    check::step(kind.name);
    CHECK(kind.context_free == (kind.episode_size == 0));
    // In the body: the lock and its episode, rounded up, and nothing else.
    const auto sum = kind.size + kind.episode_size;
    CHECK(kind.mutex_alignment == kind.alignment);
    CHECK(kind.mutex_size == (sum + kind.alignment - 1) / kind.alignment * kind.alignment);
    CHECK(kind.trivial_lock == (kind.properties.name != std::string_view("clh")));
  }
  return check::result();
}
