// SPDX-License-Identifier: Apache-2.0
#include <fairlock/waiting/yield.hpp>

#include "small_arrays.hpp"

template void bench::add_small_arrays<fairlock::Yield>(Roster&);
