// SPDX-License-Identifier: Apache-2.0
// An episode of the family `throw`, and the effect of a just-in-time compiler on it.
#pragma once

namespace bench {

inline void throw_and_catch() {
  try {
    throw 20;
  } catch (int) {}
}

// Register a table of frames, as just-in-time compilers do. From then on the runtime library must search it at every
// step of every throw.
void register_frames();

}  // namespace bench
