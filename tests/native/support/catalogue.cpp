// SPDX-License-Identifier: Apache-2.0
#include "any_lock_of.hpp"

void append_variations(std::vector<AnyLock>& rows);  // variations.cpp: the two compile side by side

static constexpr auto locks = rows_of([]<class P> { return fairlock::Locks<P>{}; });

const std::vector<AnyLock>& every_lock() {
  static const auto rows = [] {
    std::vector<AnyLock> all(locks.begin(), locks.end());
    append_variations(all);
    return all;
  }();
  return rows;
}
