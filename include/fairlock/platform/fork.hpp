// SPDX-License-Identifier: Apache-2.0
// Fork: what a child process must clear. The child has one thread, but a copy of its parent's domain, in which other
// threads may have been waiting. A release would hand a lock to a waiter that does not exist in the child, or write to
// an address that now belongs to something else.
//
// The child must also reset every *lock* for which other threads were waiting: the domain does not know the locks.
#pragma once

#include <fairlock/detail/hapax_supply.hpp>
#include <fairlock/platform/domain.hpp>

namespace fairlock {
inline namespace v0 {

// Call it in the child before it uses a lock. The calling thread must not be waiting for a lock: a signal handler may
// have interrupted such a wait.
template <Platform P>
void after_fork_in_child() {
  // Write only what is not clear already: a write copies a page that parent and child share, and most children only
  // call exec.
  const auto clear = [](auto& word) {
    if (const decltype(word.load(order::relaxed)) empty{}; word.load(order::relaxed) != empty) word.init(empty);
  };
  auto& domain = P::domain();
  for (std::uint32_t i = 0; i < P::slots(); ++i) {
    clear(domain.visible[i]);
    clear(domain.chains[i]);
  }
  for (auto& entry : domain.leaver_table) clear(entry.state);
  clear(domain.leavers);
  clear(domain.reserved);
  for (auto& node : domain.queue_nodes) {
    clear(node.next);
    clear(node.head);
  }
  // The parent's other threads will not give their numbers back here.
  const unsigned own_number = P::self();
  for (auto& word : domain.threads) clear(word);
  if (own_number < P::max_threads) domain.threads[own_number / 64].init(std::uint64_t{1} << own_number % 64);
  // Parent and child must not take hapaxes from the same block if they share a domain.
  P::template local<HapaxSupply>() = {};
}

}  // namespace v0
}  // namespace fairlock
