// SPDX-License-Identifier: Apache-2.0
#include "any_lock_of.hpp"

static constexpr auto variations = rows_of([]<class P> { return fairlock::Variations<P>{}; });

void append_variations(std::vector<AnyLock>& rows) { rows.insert(rows.end(), variations.begin(), variations.end()); }
