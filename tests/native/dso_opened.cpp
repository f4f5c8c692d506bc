// SPDX-License-Identifier: Apache-2.0
// Two shared libraries share locks although they are opened at run time with RTLD_LOCAL, like the plugins of an
// interpreter. The program shares the locks too because it exports its symbols (ENABLE_EXPORTS in CMake, -rdynamic).
// Otherwise the linker would keep the program's domain private.
#include <dlfcn.h>

#include "dso/dso.hpp"

static const Library* open(const char* path, const char* name) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!CHECK(library != nullptr)) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  const auto function = reinterpret_cast<const Library* (*)()>(dlsym(library, name));
  if (!CHECK(function != nullptr)) std::exit(1);
  return function();
}

int main(int argc, char** argv) {
  check::start(argc, argv);
#if defined(__clang__)
  std::puts("skipped: clang does not mark inline variables unique, so RTLD_LOCAL separates them (use RTLD_GLOBAL)");
  return check::skipped;
#endif
  return share_locks(*open(LIBRARY_A, "library_a"), *open(LIBRARY_B, "library_b"), this_library());
}
