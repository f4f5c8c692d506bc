// SPDX-License-Identifier: Apache-2.0
// Locks before main, and in libraries that are opened and closed.
#include "kinds.h"

#include <dlfcn.h>

extern int early_results[3], early_at_fork;  // libraries/early.c
extern pthread_mutex_t early_mutex;

TEST(library_constructor, "a mutex can be locked, tried and unlocked in the constructor of a library, before main") {
  EQUAL(early_results[0], 0);
  EQUAL(early_results[1], EBUSY);
  EQUAL(early_results[2], 0);
}

static void find_it_free(void) {
  EQUAL(early_at_fork, 0);
  EQUAL(result_of(tries, NULL), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
}

TEST(library_constructor_atfork,
     "fork handlers that such a constructor registered lock and unlock: the mutex is free in the child") {
  mutex = &early_mutex;
  for (int i = 0; i != 3; ++i) ends_well(in_child(find_it_free));
  EQUAL(early_at_fork, 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  const pthread_t thread = start(locks_and_ends, NULL);
  join(thread);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
}

static int in_constructor = -1;

__attribute__((constructor(101))) static void lock_early(void) {
  in_constructor = pthread_mutex_lock(mutex);
  in_constructor |= pthread_mutex_unlock(mutex);
}

TEST(library_constructor_of_program, "a mutex can be locked in a constructor of the program, and in main again") {
  EQUAL(in_constructor, 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
}

// libraries/opened.c, in the folder of the program.
static void* opened(int flags) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 20);
  CHECK(length > 0);
  path[length] = '\0';
  strcpy(strrchr(path, '/'), "/libopened.so");
  void* const library = dlopen(path, flags);
  if (!library) fail(__FILE__, __LINE__, "%s", dlerror());
  return library;
}

static int count_of(void* library) {
  int (*const count)(void) = (int (*)(void))dlsym(library, "opened_count");
  CHECK(count);
  return count();
}

TEST(library_opened,
     "a library that is opened may lock in its constructor, and in threads for which the constructor waits") {
  EQUAL(count_of(opened(RTLD_NOW)), 2);
}

TEST(library_opened_lazily, "the same if its functions are bound lazily") { EQUAL(count_of(opened(RTLD_LAZY)), 2); }

TEST(library_opened_deeply,
     "the same with RTLD_DEEPBIND: the library then finds glibc's functions first, and uses them throughout") {
  EQUAL(count_of(opened(RTLD_NOW | RTLD_DEEPBIND)), 2);
}

TEST(library_shares_mutex, "the program and a library that it opened share a mutex") {
  void* const library = opened(RTLD_NOW);
  int (*const try)(pthread_mutex_t*) = (int (*)(pthread_mutex_t*))dlsym(library, "opened_try");
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(try(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(try(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

TEST(library_closed,
     "a library may lock in its destructor when it is closed, and starts afresh when it is opened again") {
  int result = 0;
  for (int i = 0; i != 3; ++i) {
    void* const library = opened(RTLD_NOW);
    EQUAL(count_of(library), 2);
    *(int**)dlsym(library, "opened_result") = &result;
    EQUAL(dlclose(library), 0);
    EQUAL(result, 3);
    result = 0;
  }
}

static void* opens_and_closes(void* unused) {
  for (int i = 0; i != 5; ++i) {
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    EQUAL(dlclose(opened(RTLD_NOW)), 0);
  }
  return unused;
}

TEST(library_opened_by_threads, "several threads open and close libraries, and lock") {
  pthread_t threads[3];
  for (int i = 0; i != 3; ++i) threads[i] = start(opens_and_closes, NULL);
  for (int i = 0; i != 3; ++i) join(threads[i]);
}

typedef int function(pthread_mutex_t*);

TEST(library_looked_up, "a program that looks up the functions by name gets those that it calls directly") {
  function *const lock = (function*)dlsym(RTLD_DEFAULT, "pthread_mutex_lock"), *const next = (function*)dlsym(
                                                                                   RTLD_NEXT, "pthread_mutex_trylock");
  CHECK(lock && next);
  EQUAL(lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(next(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(next(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
}

#ifdef __x86_64__
// The versions that programs ask for if they were linked with an older glibc.
__asm__(".symver old_trylock, pthread_mutex_trylock@GLIBC_2.2.5");
__asm__(".symver old_lock, __pthread_mutex_lock@GLIBC_2.2.5");
__asm__(".symver old_unlock, __pthread_mutex_unlock@GLIBC_2.2.5");
__asm__(".symver old_wait, sem_wait@GLIBC_2.2.5");
extern int old_trylock(pthread_mutex_t*), old_lock(pthread_mutex_t*), old_unlock(pthread_mutex_t*), old_wait(sem_t*);

TEST(library_old_versions,
     "programs that use the symbol versions or the internal names of an older glibc get the same functions") {
  sem_t semaphore;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(old_trylock(mutex), EBUSY);
  EQUAL(old_unlock(mutex), 0);
  EQUAL(old_lock(mutex), 0);
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(sem_init(&semaphore, 0, 1), 0);
  EQUAL(old_wait(&semaphore), 0);
  EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
}
#endif
