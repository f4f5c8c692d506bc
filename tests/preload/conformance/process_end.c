// SPDX-License-Identifier: Apache-2.0
// Starting other programs, and the end of this program.
#include "kinds.h"

#include <spawn.h>
#include <stdatomic.h>
#include <sys/syscall.h>

extern char** environ;

static long count;

static void increment(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ++count;
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

// Runs this program with a test that needs nothing and passes.
static char* const arguments[] = {(char*)"conformance", (char*)"library_constructor", NULL};
static const char program[] = "/proc/self/exe";

static void become_another(void) {
  execv(program, arguments);
  _exit(9);
}

TEST(end_exec, "a program that becomes another one leaves no locked mutex and no waiting thread behind") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pid_t child = in_child(become_another);
  ends_well(child);
  pthread_t thread = start(passes, NULL);
  until_blocked(1);
  CHECK(!has_ended(thread));
  become_another();
}

static void* becomes_another(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  become_another();
  return unused;
}

TEST(end_exec_by_thread, "a thread that holds a mutex may become another program while the other threads are running") {
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  join(thread);
  start(becomes_another, NULL);
  for (;;) pause();
}

TEST(end_vfork, "the child of vfork, in its parent's memory, changes no mutex of the parent") {
  pthread_t thread;
  EQUAL(pthread_mutex_lock(mutex), 0);
  thread = start(passes, NULL);
  until_blocked(1);
  for (int i = 0; i != 3; ++i) {
    const pid_t child = vfork();
    if (child == 0) {
      if (i == 0) _exit(0);
      execv(program, arguments);
      _exit(9);
    }
    ends_well(child);
  }
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 0);
}

static void spawn_one(void) {
  pid_t child;
  EQUAL(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0);
  ends_well(child);
}

TEST(end_spawn, "posix_spawn, called by a thread that holds a mutex for which another thread waits") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  spawn_one();
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
}

static void* spawns(void* unused) {
  for (int i = 0; i != 3; ++i) {
    increment();
    spawn_one();
  }
  return unused;
}

TEST(end_spawn_by_threads, "threads that lock and start programs at the same time") {
  pthread_t threads[3];
  for (int i = 0; i != 3; ++i) threads[i] = start(spawns, NULL);
  for (int i = 0; i != 3; ++i) join(threads[i]);
  EQUAL(count, 9);
}

TEST(end_system, "system and popen, while other threads wait") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(passes, NULL);
  until_blocked(1);
  EQUAL(system("exit 3"), 3 << 8);
  FILE* const pipe = popen("echo text", "r");
  char text[8] = "";
  CHECK(pipe && fgets(text, sizeof text, pipe));
  EQUAL(strcmp(text, "text\n"), 0);
  EQUAL(pclose(pipe), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  join(thread);
}

// --- exit ---

static void lock_at_exit(void) {
  increment();
  struct timespec past = {1, 0};
  EQUAL(pthread_mutex_timedlock(mutex, &past), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  _exit(count == 1 ? 0 : 1);
}

FOR_EACH_KIND(end_atexit, "functions that atexit registers may lock, and start threads that lock") {
  EQUAL(atexit(lock_at_exit), 0);
  exit(9);
}

FOR_EACH_KIND(end_quick_exit, "functions that at_quick_exit registers may lock, and start threads that lock") {
  EQUAL(at_quick_exit(lock_at_exit), 0);
  quick_exit(9);
}

static void unlock_at_exit(void) {
  EQUAL(pthread_mutex_unlock(mutex), 0);
  lock_at_exit();
}

FOR_EACH_KIND(end_with_mutex, "a mutex that the thread holds when it calls exit can be unlocked in a handler") {
  EQUAL(atexit(unlock_at_exit), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  exit(9);
}

static int destructors_run = -1;
__attribute__((destructor)) static void lock_in_destructor(void) {
  if (destructors_run < 0) return;
  increment();
  _exit(count == 1 ? 0 : 1);
}

TEST(end_destructor, "a destructor of the program may lock") {
  destructors_run = 0;
  exit(9);
}

static void find_it_busy(void) {
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  _exit(0);
}

static void* exits(void* unused) {
  (void)unused;
  exit(9);
}

TEST(end_exit_by_thread, "any thread may call exit, while other threads hold a mutex and wait for it") {
  EQUAL(atexit(find_it_busy), 0);
  EQUAL(pthread_mutex_lock(mutex), 0);
  start(passes, NULL);
  until_blocked(1);
  join(start(exits, NULL));
  CHECK(!"reached");
}

// --- signal handlers ---

static atomic_int handled;

static void handle(int number) {
  (void)number;
  ++handled;
}

TEST(end_signals_while_locking, "signals that arrive all the time do not harm a thread that locks") {
  static const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  EQUAL(sigaction(SIGPROF, &action, NULL), 0);
  EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  const pthread_t self = pthread_self();
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    for (int i = 0; i != 200 && getppid() == parent; ++i) kill(parent, SIGUSR1), usleep(50);
    _exit(0);
  }
  int status;
  while (waitpid(child, &status, WNOHANG) == 0) {
    increment();
    EQUAL(pthread_mutex_trylock(mutex), 0);
    pthread_kill(self, SIGPROF);
    EQUAL(pthread_mutex_unlock(mutex), 0);
  }
  EQUAL(status, 0);
  CHECK(handled >= count);
}

static void wait_while_stopped(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  struct timespec soon = deadline(CLOCK_REALTIME, 20), later = deadline(CLOCK_REALTIME, 60000);
  const pthread_t one = start(passes, NULL), other = start(waits_until, &later), third = start(waits_until, &soon);
  until_blocked(3);
  EQUAL(kill(getpid(), SIGSTOP), 0);
  EQUAL((long)join(third), ETIMEDOUT);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(one), 0);
  EQUAL((long)join(other), 0);
}

FOR_EACH_KIND(end_stopped,
              "after a process is stopped and continued, a waiter still waits for its mutex, until the deadline") {
  int status;
  const pid_t child = in_child(wait_while_stopped);
  EQUAL(waitpid(child, &status, WUNTRACED), child);
  CHECK(WIFSTOPPED(status));
  EQUAL(kill(child, SIGCONT), 0);
  ends_well(child);
}

static sem_t fired;

static void lock_by_timer(union sigval unused) {
  (void)unused;
  increment();
  EQUAL(sem_post(&fired), 0);
}

TEST(end_timer, "if a timer notifies by starting a thread, the thread's function may lock") {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD};
  event.sigev_notify_function = lock_by_timer;
  const struct itimerspec soon = {.it_value = {0, 1000000}};
  EQUAL(sem_init(&fired, 0, 0), 0);
  EQUAL(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  EQUAL(timer_settime(timer, 0, &soon, NULL), 0);
  EQUAL(sem_wait(&fired), 0);
  EQUAL(count, 1);
}
