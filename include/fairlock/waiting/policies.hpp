// SPDX-License-Identifier: Apache-2.0
// The list of waiting policies, for the Python types, the preload objects, the lab and the tests. A new policy is one
// header and one line here.
#pragma once

#include <fairlock/waiting/monitor.hpp>
#include <fairlock/waiting/park.hpp>
#include <fairlock/waiting/spin.hpp>
#include <fairlock/waiting/yield.hpp>

namespace fairlock {
inline namespace v0 {

template <class... W>
struct PolicyList {
  static constexpr unsigned size = sizeof...(W);
  static constexpr const char* names[] = {W::name...};
};

// Every policy. `Parking` is how a waiter sleeps (platform/parking.hpp).
template <class Parking = SystemParking>
using PoliciesWith = PolicyList<Spin, Yield, Monitor, BasicPark<Parking>, BasicSpinThenPark<Parking>>;
using Policies = PoliciesWith<>;

// The default policies: for a lock whose waiters can sleep, and for a lock whose waiters cannot.
using DefaultPolicy = SpinThenPark;
using DefaultPolicyAwake = Yield;

// Call visit.operator()<W>() for every policy W of the list.
template <class... W, class F>
void for_each_policy(PolicyList<W...>, F&& visit) {
  (visit.template operator()<W>(), ...);
}

namespace detail {
template <unsigned Index, class List>
struct PolicyAt;
template <unsigned Index, class First, class... Rest>
struct PolicyAt<Index, PolicyList<First, Rest...>> : PolicyAt<Index - 1, PolicyList<Rest...>> {};
template <class First, class... Rest>
struct PolicyAt<0, PolicyList<First, Rest...>> {
  using type = First;
};
}  // namespace detail

// The policy at this index of the list.
template <unsigned Index, class List = Policies>
using policy_at = typename detail::PolicyAt<Index, List>::type;

}  // namespace v0
}  // namespace fairlock
