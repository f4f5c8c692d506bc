// SPDX-License-Identifier: Apache-2.0
// The two ways in which the program fails. Both print one line on stderr, and nothing on stdout.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

// Report bad input, or a system that lacks something, and exit with status 2.
[[noreturn]] inline void refuse(const std::string& why) {
  std::fprintf(stderr, "fairlock_bench: %s\n", why.c_str());
  std::exit(2);
}

// Report a lock that does not work, and exit with status 1. Threads may be stuck in the lock, so no destructor runs.
[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "fairlock_bench: %s\n", why.c_str());
  std::_Exit(1);
}

}  // namespace bench
