// SPDX-License-Identifier: Apache-2.0
// `fairlock_bench list`: what there is to measure, and what could not be built in.
#pragma once

#include "json.hpp"

namespace bench {

void write_list(Json& json);

}  // namespace bench
