// SPDX-License-Identifier: Apache-2.0
// `fairlock_bench list`: what can be measured, and what is missing in this build.
#pragma once

#include "harness/json.hpp"

namespace bench {

void write_list(Json& json);

}  // namespace bench
