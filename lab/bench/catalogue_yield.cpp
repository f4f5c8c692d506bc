#include <fairlock/waiting/yield.hpp>

#include "catalogue.hpp"

template void bench::add_catalogue<fairlock::Yield>(Roster&);
