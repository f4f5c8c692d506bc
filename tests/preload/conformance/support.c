// SPDX-License-Identifier: Apache-2.0
// What tests share (test.h).
#include "test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>

void fail(const char* file, int line, const char* format, ...) {
  char text[600];
  const char* const slash = strrchr(file, '/');
  int length = snprintf(text, sizeof text, "%s:%d: ", slash ? slash + 1 : file, line);
  va_list values;
  va_start(values, format);
  length += vsnprintf(text + length, sizeof text - (size_t)length, format, values);
  va_end(values);
  dprintf(STDOUT_FILENO, "%s\n", text);
  _exit(1);
}

void skip(const char* why) {
  dprintf(STDOUT_FILENO, "%s\n", why);
  _exit(77);
}

static const char* name_of(long value) {
  const char* const error = value > 0 && value < 200 ? strerrorname_np((int)value) : NULL;
  return error ? error : "";
}

void check_equal(const char* file, int line, const char* what, long actual, const char* how, long expected) {
  if (actual != expected) fail(file, line, "%s is %ld %s, not %s (%ld)", what, actual, name_of(actual), how, expected);
}

void check_errno(const char* file, int line, const char* what, long result, const char* how, int error) {
  const int seen = errno;
  if (result != -1 || seen != error)
    fail(file, line, "%s is %ld, errno %s, not -1, %s", what, result, name_of(seen), how);
}

// --- threads ---

pthread_t start(void* (*function)(void*), void* argument) {
  pthread_t thread;
  EQUAL(pthread_create(&thread, NULL, function, argument), 0);
  return thread;
}

void* join(pthread_t thread) {
  void* result;
  EQUAL(pthread_join(thread, &result), 0);
  return result;
}

long result_of(void* (*function)(void*), void* argument) { return (long)join(start(function, argument)); }

bool has_ended(pthread_t thread) {
  const int result = pthread_tryjoin_np(thread, NULL);
  CHECK(result == 0 || result == EBUSY);
  return result == 0;
}

enum { most_waits = 1 << 16 };
static _Atomic pid_t announced[most_waits];
static atomic_int announcements;
static int seen_announcements;

void will_block(void) {
  const int place = atomic_fetch_add(&announcements, 1);
  CHECK(place < most_waits);
  announced[place] = (pid_t)syscall(SYS_gettid);
}

static bool sleeps_or_ended(pid_t thread) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  const int file = open(path, O_RDONLY);
  const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  if (length <= 0) return true;  // for ever
  text[length] = '\0';
  return strrchr(text, ')')[2] == 'S';
}

// Processor time of a thread of this process. The kernel's posix-timers.h defines the number of the clock.
static long spent(pid_t thread) {
  struct timespec time;
  const clockid_t clock = (clockid_t)(~(unsigned)thread << 3 | 6);
  return clock_gettime(clock, &time) != 0 ? 0 : time.tv_sec * 1000000000 + time.tv_nsec;
}

void until_blocked(int threads) {
  for (; threads != 0; --threads, ++seen_announcements) {
    _Atomic pid_t* const place = &announced[seen_announcements];
    while (*place == 0) nap(0);
    // Check twice that the thread sleeps: the first time, it may have slept in the kernel on its way to the wait. A
    // thread that has spun for so long has nothing else to do.
    const long enough = spent(*place) + 2000000;
    for (int asleep = 0; asleep != 2 && spent(*place) < enough; nap(0))
      asleep = sleeps_or_ended(*place) ? asleep + 1 : 0;
  }
}

bool never_sleeps(void) {
  const char* const waiting = (const char*)dlsym(RTLD_DEFAULT, "fairlock_preload_waiting");  // of the preloaded object
  return waiting && !strstr(waiting, "park");
}

long turns(long many) { return !never_sleeps() ? many : many < 100 ? many / 20 + 1 : many / 50; }

// --- time ---

struct timespec deadline(clockid_t clock, long milliseconds) {
  struct timespec at;
  EQUAL(clock_gettime(clock, &at), 0);
  const long nanoseconds = at.tv_nsec + milliseconds % 1000 * 1000000;
  at.tv_sec += milliseconds / 1000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
  at.tv_nsec = (nanoseconds + 1000000000) % 1000000000;
  return at;
}

bool has_passed(clockid_t clock, struct timespec at) {
  const struct timespec now = deadline(clock, 0);
  return now.tv_sec != at.tv_sec ? now.tv_sec > at.tv_sec : now.tv_nsec >= at.tv_nsec;
}

void nap(long milliseconds) { usleep(milliseconds ? (useconds_t)milliseconds * 1000 : 200); }

// --- processes ---

pid_t in_child(void (*function)(void)) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) return child;
  function();
  _exit(0);
}

void ends_well(pid_t child) {
  int status = -1;
  EQUAL(waitpid(child, &status, 0), child);
  if (status != 0) fail("", 0, "the child ended with %#x", (unsigned)status);
}

// --- mutexes ---

pthread_mutex_t mutex_of_type(int type) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  EQUAL(pthread_mutexattr_init(&attributes), 0);
  EQUAL(pthread_mutexattr_settype(&attributes, type), 0);
  EQUAL(pthread_mutex_init(&mutex, &attributes), 0);
  return mutex;
}
