// Fork: a child has one thread, but the domain of its parent, in which others may have been waiting. A waiter that is gone would be
// handed a lock, or be woken at an address that is another's by now.
//
// What the child must also do is make the *locks* anew that others were waiting for, as this knows none of them.
#pragma once

#include <fairlock/domain.hpp>
#include <fairlock/hapax.hpp>

namespace fairlock {
inline namespace v0 {

// In the child, before it uses a lock. The calling thread must not be waiting for one (in a signal handler, say).
template <Platform P>
void after_fork_in_child() {
  auto& domain = P::domain();
  for (std::uint32_t i = 0; i < P::slots(); ++i) {
    domain.visible[i].init(0);
    domain.chains[i].init(nullptr);
  }
  for (auto& entry : domain.left) entry.state.init(0);
  domain.leavers.init(0);
  domain.reserved.init(0);
  for (auto& node : domain.queue_nodes) {
    node.next.init(0);
    node.head.init(0);
  }
  // Numbers of threads that are gone would never come back.
  const unsigned mine = P::self();
  for (auto& word : domain.threads) word.init(0);
  if (mine < P::max_threads) domain.threads[mine / 64].init(std::uint64_t{1} << mine % 64);
  // Where the domain is shared between processes, parent and child must not use up the same block of hapaxes.
  P::template local<HapaxSupply>() = {};
}

}  // namespace v0
}  // namespace fairlock
