// SPDX-License-Identifier: Apache-2.0
// What a shared object of the test says about its copy of fairlock. Each is built with hidden visibility and has its
// own copy of everything that a header can hide.
#pragma once

#include <cstddef>

#include "../support/any_lock.hpp"

struct Library {
  const void* domain;   // of the process: the same in all
  const void* slots;    // how many slots are in use, if that depends on the number of CPUs: the same in all
  const void* control;  // an inline array without default visibility: a different one in each
  const AnyLock* locks;
  std::size_t count;
};

const Library& this_library();  // hidden: each shared object has one

extern "C" {
[[gnu::visibility("default")]] const Library* library_a();
[[gnu::visibility("default")]] const Library* library_b();
}
