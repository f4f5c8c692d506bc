// SPDX-License-Identifier: Apache-2.0
// Two shared libraries that are linked to the program share locks with it.
#include "dso/dso.hpp"

int main(int argc, char** argv) {
  check::start(argc, argv);
  return share_locks(*library_a(), *library_b(), this_library());
}
