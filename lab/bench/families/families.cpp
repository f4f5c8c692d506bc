// SPDX-License-Identifier: Apache-2.0
#include "families/family.hpp"

namespace bench {

const std::vector<const Family*>& families() {
  static const std::vector<const Family*> all = {
      &contend,         &uncontended, &overhead, &fork_join, &multi_lock, &invalidation_diameter, &throwing,
#ifdef FAIRLOCK_BENCH_ATOMIC
      &atomic_exchange,
#endif
      &leveldb,
  };
  return all;
}

}  // namespace bench
