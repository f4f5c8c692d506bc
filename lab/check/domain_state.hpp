// SPDX-License-Identifier: Apache-2.0
// The domain of a scenario: what it holds when the threads start, and what it must not hold when they have finished.
#pragma once

#include <cstdint>

#include <fairlock/detail/hapax_supply.hpp>

#include "check/checked.hpp"

namespace fairlock::check {

// Every thread begins with a block of hapaxes, as if it had used a lock before. The order in which threads fetch their
// first blocks makes no difference worth exploring. The variations with small blocks or lanes do fetch them.
inline bool supplied(const DomainOptions& options) {
  return options.lane == Lane::first && options.block_bits == DomainOptions{}.block_bits;
}

inline void supply_domain() {
  if (supplied(Checked::options())) {
    auto& blocks = Checked::domain().lanes[0].blocks;
    World::current().arena().write(reinterpret_cast<std::uintptr_t>(&blocks), 8, World::current().threads());
  }
}

inline void supply_thread(unsigned thread) {
  if (supplied(Checked::options()))
    Checked::local<HapaxSupply>().next = (std::uint64_t{thread + 1} << Checked::options().block_bits) + 1;
}

// Whether the threads left anything behind in the domain: a visible waiter (with which later waiters would collide
// forever), an entry of a leaver, or an element on a chain.
inline bool domain_in_use() {
  const auto& domain = CheckedMemory::domain();
  for (std::uint32_t i = 0; i < CheckedMemory::max_slots; ++i) {
    if (domain.visible[i].load(order::relaxed) != 0) return true;
    const auto top = reinterpret_cast<std::uintptr_t>(domain.chains[i].load(order::relaxed));
    if (top != 0 && (top & 1) == 0) return true;
  }
  for (const auto& entry : domain.leaver_table)
    if ((entry.state.load(order::relaxed) & 3) != 0) return true;
  return domain.reserved.load(order::relaxed) != 0;
}

// If the lock has been destroyed, only the domain can be checked.
inline bool domain_still_in_use(const void*) { return domain_in_use(); }

}  // namespace fairlock::check
