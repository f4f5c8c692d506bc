// Who is measured: the catalogue's locks and semaphores under the waiting policies asked for, and the references.
#pragma once

#include <string>
#include <vector>

#include <fairlock/waiting/park.hpp>
#include <fairlock/waiting/spin.hpp>
#include <fairlock/waiting/yield.hpp>

#include "measured.hpp"
#include "options.hpp"

namespace bench {

template <class... Waiting>
struct PolicyList {};

// A new waiting policy is one name here.
using Policies = PolicyList<fairlock::Spin, fairlock::Yield, fairlock::Park, fairlock::SpinThenPark>;

// How to wait when each thread has a processor, and when they have to share them.
using Eager = fairlock::Spin;
using Patient = fairlock::SpinThenPark;

std::vector<std::string> catalogue_names();
std::vector<std::string> policy_names();

// Stops with a message when the options name a lock or a policy that there is not.
void check_names(const Options& options);

// Those of the catalogue that the options ask for, under the policies that they ask for, else under the given ones;
// then the references. Empty if the options ask for none of these.
Subjects locks(const Options& options, const std::vector<std::string>& policies);
Subjects semaphores(const Options& options, const std::vector<std::string>& policies);
Subjects locks_and_semaphores(const Options& options, const std::vector<std::string>& policies);

}  // namespace bench
