// SPDX-License-Identifier: Apache-2.0
// Limits on what the optimizer may do to a measuring loop.
#pragma once

namespace bench {

// The compiler assumes that any object may have changed here, so it moves no memory access across this line.
inline void barrier() { asm volatile("" ::: "memory"); }

// Return the same object, but hide its address from the compiler, which then cannot fold it into the loop.
template <class T>
T& opaque(T& object) {
  T* pointer = &object;
  asm volatile("" : "+r"(pointer) : : "memory");
  return *pointer;
}

}  // namespace bench
