// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include "../support/any_lock_of.hpp"

using namespace fairlock;

template <Platform P>
using ByCpus = EntryList<Entry<"twa/slots-by-cpus", TwaLock<P>, DomainOptions{.slots_by_cpus = true}>>;

static constexpr auto locks = [] {
  constexpr auto catalogue = rows_of([]<class P> { return Locks<P>{}; });
  constexpr auto by_cpus = rows_of([]<class P> { return ByCpus<P>{}; });
  std::array<AnyLock, catalogue.size() + by_cpus.size()> all{};
  std::ranges::copy(catalogue, all.begin());
  std::ranges::copy(by_cpus, all.begin() + catalogue.size());
  return all;
}();

inline std::uint64_t control[64];  // what process_domain would be without default visibility: one in each library

const Library& this_library() {
  static const Library library{
      .domain = &process_domain<DomainOptions{}>,
      .slots = &slots_in_use<4096>,
      .control = &control,
      .locks = locks.data(),
      .count = locks.size(),
  };
  return library;
}
