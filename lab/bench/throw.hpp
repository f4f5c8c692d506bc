// SPDX-License-Identifier: Apache-2.0
// One episode of `throw`, and what a just-in-time compiler does to it.
#pragma once

namespace bench {

inline void throw_and_catch() {
  try {
    throw 20;
  } catch (int) {}
}

// From now on the run time has a table of frames that somebody registered, as just-in-time compilers do, and must look
// there at every step of every throw.
void register_frames();

}  // namespace bench
