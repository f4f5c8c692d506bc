// SPDX-License-Identifier: Apache-2.0
// Opens the library that the argument names, and takes `counted` once.
#include <dlfcn.h>

#include "support.h"

pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER;

int main(int count, char** words) {
  CHECK(count == 2 && dlopen(words[1], RTLD_NOW) != NULL);
  pthread_mutex_lock(&counted);
  pthread_mutex_unlock(&counted);
}
