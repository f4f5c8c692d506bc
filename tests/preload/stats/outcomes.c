// SPDX-License-Identifier: Apache-2.0
// Prints what each call returns, one line each. The output is the same with statistics and without.
#include "support.h"

static pthread_mutex_t mutex_of_type(int type, int protocol, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutexattr_setrobust(&attributes, robust);
  CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
  return mutex;
}

static void say(const char* what, int result) { printf("%s: %s\n", what, result == 0 ? "0" : strerrorname_np(result)); }
static void say_errno(const char* what, int result) {
  printf("%s: %d, %s\n", what, result, errno == 0 ? "0" : strerrorname_np(errno));
  errno = 0;
}

static int was_handled;

static void say_cancelled(const char* what, pthread_t thread) {
  const int cancelled = join(thread) == PTHREAD_CANCELED;
  printf("%s: %d, %d\n", what, cancelled, was_handled);
  was_handled = 0;
}

static void* lock_and_end(void* mutex) { return (void*)(long)pthread_mutex_lock(mutex); }

static void* try(void* mutex) { return (void*)(long)pthread_mutex_trylock(mutex); }

static void* timed(void* mutex) {
  const struct timespec soon = after(CLOCK_REALTIME, 20);
  return (void*)(long)pthread_mutex_timedlock(mutex, &soon);
}

static void* wrong_time(void* mutex) {
  const struct timespec at = {0, 1000000000};
  return (void*)(long)pthread_mutex_timedlock(mutex, &at);
}

static void* clocked(void* mutex) {
  const struct timespec soon = after(CLOCK_MONOTONIC, 20);
  return (void*)(long)pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon);
}

static struct {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  sem_t semaphore;
} shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{0}}};

static void handled(void* what) {
  was_handled = 1;
  if (what != NULL) pthread_mutex_unlock(what);
}

static void* waits_on_condition(void* unused) {
  pthread_mutex_lock(&shared.mutex);
  pthread_cleanup_push(handled, &shared.mutex);
  will_wait();
  for (;;) pthread_cond_wait(&shared.condition, &shared.mutex);
  pthread_cleanup_pop(0);
  return unused;
}

static void* waits_on_semaphore(void* unused) {
  pthread_cleanup_push(handled, NULL);
  will_wait();
  sem_wait(&shared.semaphore);
  pthread_cleanup_pop(0);
  return unused;
}

static void* cancelled_before_semaphore(void* unused) {
  pthread_cleanup_push(handled, NULL);
  pthread_cancel(pthread_self());
  sem_wait(&shared.semaphore);  // a cancellation point, though there is a permit
  pthread_cleanup_pop(0);
  return unused;
}

static void on_signal(int number) { (void)number; }

static void* interrupted(void* unused) {
  errno = 0;
  will_wait();
  const int result = sem_wait(&shared.semaphore);
  say_errno("interrupted sem_wait", result);
  return unused;
}

int main(void) {
  pthread_mutex_t recursive = mutex_of_type(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
  say("recursive", pthread_mutex_lock(&recursive));
  say("recursive again", pthread_mutex_lock(&recursive));
  say("recursive try", pthread_mutex_trylock(&recursive));
  say("recursive try by another", (int)(long)join(start(try, &recursive)));
  say("recursive timed by another", (int)(long)join(start(timed, &recursive)));
  for (int i = 0; i != 4; ++i) say("recursive unlock", pthread_mutex_unlock(&recursive));

  pthread_mutex_t careful = mutex_of_type(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
  const struct timespec soon = after(CLOCK_REALTIME, 20), later = after(CLOCK_MONOTONIC, 60000), wrong = {0, -1};
  say("errorcheck", pthread_mutex_lock(&careful));
  say("errorcheck again", pthread_mutex_lock(&careful));
  say("errorcheck try", pthread_mutex_trylock(&careful));
  say("errorcheck timed", pthread_mutex_timedlock(&careful, &soon));
  say("errorcheck unlock", pthread_mutex_unlock(&careful));
  say("errorcheck unlock again", pthread_mutex_unlock(&careful));
  say("errorcheck condition", pthread_cond_timedwait(&shared.condition, &careful, &soon));

  pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
  say("wrong time, free", pthread_mutex_timedlock(&normal, &wrong));
  say("wrong time, taken", (int)(long)join(start(wrong_time, &normal)));
  say("timed, taken", (int)(long)join(start(timed, &normal)));
  say("clocked, taken", (int)(long)join(start(clocked, &normal)));
  say("unlock", pthread_mutex_unlock(&normal));
  say("unknown clock, free", pthread_mutex_clocklock(&normal, CLOCK_PROCESS_CPUTIME_ID, &later));
  say("clocked, free", pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &later));

  pthread_mutex_t robust = mutex_of_type(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
  say("robust", (int)(long)join(start(lock_and_end, &robust)));
  say("robust after its owner", pthread_mutex_lock(&robust));
  say("robust consistent", pthread_mutex_consistent(&robust));
  say("robust unlock", pthread_mutex_unlock(&robust));
  join(start(lock_and_end, &robust));
  say("robust try", pthread_mutex_trylock(&robust));
  say("robust unlock", pthread_mutex_unlock(&robust));
  say("robust given up", pthread_mutex_lock(&robust));
  say("robust given up, to another", (int)(long)join(start(lock_and_end, &robust)));

  pthread_mutex_t inherits = mutex_of_type(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
  say("inherits", pthread_mutex_lock(&inherits));
  say("inherits again", pthread_mutex_lock(&inherits));
  say("inherits timed by another", (int)(long)join(start(timed, &inherits)));
  say("inherits clocked by another", (int)(long)join(start(clocked, &inherits)));
  say("inherits unlock", pthread_mutex_unlock(&inherits));
  say("inherits clocked", pthread_mutex_clocklock(&inherits, CLOCK_MONOTONIC, &later));

  pthread_mutex_lock(&shared.mutex);
  say("condition timed", pthread_cond_timedwait(&shared.condition, &shared.mutex, &soon));
  say("condition wrong time", pthread_cond_timedwait(&shared.condition, &shared.mutex, &wrong));
  say("condition wrong clock",
      pthread_cond_clockwait(&shared.condition, &shared.mutex, CLOCK_PROCESS_CPUTIME_ID, &later));
  pthread_mutex_unlock(&shared.mutex);
  pthread_t thread = start(waits_on_condition, NULL);
  until_it_waits();
  pthread_cancel(thread);
  say_cancelled("cancelled in a condition", thread);
  say("its mutex", pthread_mutex_trylock(&shared.mutex));

  CHECK(sem_init(&shared.semaphore, 0, 1) == 0);
  thread = start(cancelled_before_semaphore, NULL);
  say_cancelled("cancelled before a semaphore", thread);
  errno = 0;
  say_errno("wrong time, permit", sem_timedwait(&shared.semaphore, &wrong));
  say_errno("wrong clock, permit", sem_clockwait(&shared.semaphore, CLOCK_PROCESS_CPUTIME_ID, &later));
  say_errno("permit", sem_wait(&shared.semaphore));
  say_errno("no permit", sem_trywait(&shared.semaphore));
  say_errno("no permit, timed", sem_timedwait(&shared.semaphore, &soon));
  thread = start(waits_on_semaphore, NULL);
  until_it_waits();
  pthread_cancel(thread);
  say_cancelled("cancelled in a semaphore", thread);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
  thread = start(interrupted, NULL);
  until_it_waits();
  pthread_kill(thread, SIGUSR1);
  join(thread);
  fflush(stdout);
}
