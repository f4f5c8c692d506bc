// SPDX-License-Identifier: Apache-2.0
// Two shared libraries in one process share locks: linked to the program.
#include "dso/dso.hpp"

int main(int argc, char** argv) {
  check::start(argc, argv);
  return share_locks(*library_a(), *library_b(), this_library());
}
