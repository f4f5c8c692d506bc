// SPDX-License-Identifier: Apache-2.0
#include <fairlock/waiting/spin.hpp>

#include "catalogue.hpp"

template void bench::add_catalogue<fairlock::Spin>(Roster&);
