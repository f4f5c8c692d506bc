// SPDX-License-Identifier: Apache-2.0
// Fork: a child has one thread, but the domain of its parent, in which others may have been waiting. A waiter that is
// gone would be handed a lock, or be woken at an address that is another's by now.
//
// What the child must also do is make the *locks* anew that others were waiting for, as this knows none of them.
#pragma once

#include <fairlock/detail/hapax_supply.hpp>
#include <fairlock/platform/domain.hpp>

namespace fairlock {
inline namespace v0 {

// In the child, before it uses a lock. The calling thread must not be waiting for one (in a signal handler, say).
template <Platform P>
void after_fork_in_child() {
  // What is clear is left alone: to write a page that the parent has too is to copy it, and most children only exec.
  const auto clear = [](auto& word) {
    if (const decltype(word.load(order::relaxed)) empty{}; word.load(order::relaxed) != empty) word.init(empty);
  };
  auto& domain = P::domain();
  for (std::uint32_t i = 0; i < P::slots(); ++i) {
    clear(domain.visible[i]);
    clear(domain.chains[i]);
  }
  for (auto& entry : domain.left) clear(entry.state);
  clear(domain.leavers);
  clear(domain.reserved);
  for (auto& node : domain.queue_nodes) {
    clear(node.next);
    clear(node.head);
  }
  // Numbers of threads that are gone would never come back.
  const unsigned mine = P::self();
  for (auto& word : domain.threads) clear(word);
  if (mine < P::max_threads) domain.threads[mine / 64].init(std::uint64_t{1} << mine % 64);
  // Where the domain is shared between processes, parent and child must not use up the same block of hapaxes.
  P::template local<HapaxSupply>() = {};
}

}  // namespace v0
}  // namespace fairlock
