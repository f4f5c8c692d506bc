// SPDX-License-Identifier: Apache-2.0
// fork: the child has the mutexes of the forking thread, and none of the other threads.
//
// Left out, because glibc's child cannot unlock them (it has another thread number): recursive and errorcheck mutexes
// that were held.
#include "kinds.h"

#include <stdatomic.h>

static void contend(void) {
  pthread_t threads[4];
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 4; ++i) threads[i] = start(passes, NULL);
  until_blocked(4);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 4; ++i) EQUAL((long)join(threads[i]), 0);
}

static void unlock_and_lock(void) {
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL(result_of(tries, NULL), 0);
  contend();
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_PLAIN_KINDS(fork_with_mutex, "the child of an owner is the owner of its copy, and can unlock it") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ends_well(in_child(unlock_and_lock));
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

FOR_PLAIN_KINDS(
    fork_with_waiters,
    "an owner with waiters forks: the child can unlock its copy, for its own waiters; the parent's waiters get it") {
  pthread_t threads[3];
  EQUAL(pthread_mutex_lock(mutex), 0);
  for (int i = 0; i != 3; ++i) threads[i] = start(passes, NULL);
  until_blocked(3);
  ends_well(in_child(unlock_and_lock));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  for (int i = 0; i != 3; ++i) join(threads[i]);
}

FOR_PLAIN_KINDS(fork_with_timed_waiter, "the same, if the others wait with a deadline") {
  struct timespec later = deadline(CLOCK_REALTIME, 60000);
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pthread_t thread = start(waits_until, &later);
  until_blocked(1);
  ends_well(in_child(unlock_and_lock));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  EQUAL((long)join(thread), 0);
}

static void lock_it(void) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(result_of(tries, NULL), EBUSY);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}

FOR_EACH_KIND(fork_with_free_mutex,
              "a free mutex is free in the child, and the child's use of it does not affect the parent") {
  EQUAL(result_of(tries, NULL), 0);
  ends_well(in_child(lock_it));
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  ends_well(in_child(lock_it));
}

FOR_EACH_KIND(fork_then_contend, "threads of the child wait for a mutex that was contended before the fork") {
  contend();
  ends_well(in_child(contend));
  contend();
}

static void fork_and_unlock(void) {
  ends_well(in_child(unlock_and_lock));
  unlock_and_lock();
}

FOR_PLAIN_KINDS(fork_in_child, "a child may fork: its child owns the mutex, too") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ends_well(in_child(fork_and_unlock));
  unlock_and_lock();
}

static void initialise_and_lock(void) {
  EQUAL(pthread_mutex_init(mutex, NULL), 0);
  contend();
  EQUAL(pthread_mutex_destroy(mutex), 0);
}

FOR_EACH_KIND(fork_and_initialise, "the child may initialise a mutex anew that another thread had") {
  EQUAL(result_of(locks_and_ends, NULL), 0);
  ends_well(in_child(initialise_and_lock));
  EQUAL(pthread_mutex_trylock(mutex), EBUSY);
}

enum { many = 300 };
static pthread_mutex_t held[many];

static void unlock_all(void) {
  for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_trylock(&held[i]), EBUSY);
  for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_unlock(&held[i * 7 % many]), 0);
  for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_lock(&held[i]), 0);
}

TEST(fork_with_many, "the child has all mutexes that the forking thread had, and can unlock them in any order") {
  for (int i = 0; i != many; ++i) EQUAL(pthread_mutex_lock(&held[i]), 0);
  ends_well(in_child(unlock_all));
  unlock_all();
}

static void* forks(void* unused) {
  EQUAL(pthread_mutex_lock(mutex), 0);
  ends_well(in_child(unlock_and_lock));
  EQUAL(pthread_mutex_unlock(mutex), 0);
  ends_well(in_child(contend));
  return unused;
}

FOR_PLAIN_KINDS(fork_by_a_thread, "any thread may fork: its child owns the thread's mutexes") {
  for (int i = 0; i != 3; ++i) join(start(forks, NULL));
  contend();
}

static atomic_int stop;

static void* locks_on(void* own) {
  while (!stop) {
    EQUAL(pthread_mutex_lock(own), 0);
    EQUAL(pthread_mutex_unlock(own), 0);
    EQUAL(pthread_mutex_lock(&held[0]), 0);
    EQUAL(pthread_mutex_unlock(&held[0]), 0);
    nap(1);
  }
  return NULL;
}

FOR_EACH_KIND(fork_among_busy_threads,
              "children that are forked while other threads lock other mutexes can lock theirs, and start threads") {
  const pthread_t one = start(locks_on, &held[1]), other = start(locks_on, &held[2]);
  for (int i = 0; i != 3; ++i) {
    nap(1);
    EQUAL(pthread_mutex_lock(mutex), 0);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    ends_well(in_child(contend));
  }
  stop = 1;
  join(one);
  join(other);
}

static void* forks_and_locks(void* unused) {
  for (int i = 0; i != 5; ++i) ends_well(in_child(lock_it));
  return unused;
}

FOR_EACH_KIND(fork_by_several_threads, "several threads may fork at once") {
  pthread_t threads[3];
  for (int i = 0; i != 3; ++i) threads[i] = start(forks_and_locks, NULL);
  for (int i = 0; i != 3; ++i) join(threads[i]);
}

static void fork_deeper(void) {
  static int depth;
  EQUAL(pthread_mutex_lock(mutex), 0);
  EQUAL(pthread_mutex_unlock(mutex), 0);
  if (++depth != 40) ends_well(in_child(fork_deeper));
}

FOR_EACH_KIND(fork_forty_generations,
              "the child of a child, and so on for forty generations, locks what all have locked before") {
  fork_deeper();
}

#if __GLIBC_PREREQ(2, 34)
FOR_PLAIN_KINDS(fork_without_handlers,
                "_Fork, which runs no handlers: the child of an owner is the owner of its copy, too") {
  EQUAL(pthread_mutex_lock(mutex), 0);
  const pid_t child = _Fork();
  if (child == 0) {
    EQUAL(pthread_mutex_trylock(mutex), EBUSY);
    EQUAL(pthread_mutex_unlock(mutex), 0);
    EQUAL(pthread_mutex_trylock(mutex), 0);
    _exit(0);
  }
  ends_well(child);
  EQUAL(pthread_mutex_unlock(mutex), 0);
}
#endif

TEST(fork_with_semaphore, "the child's copy of a semaphore has the value that it had") {
  static sem_t semaphore;
  int value = -1;
  EQUAL(sem_init(&semaphore, 0, 2), 0);
  EQUAL(sem_wait(&semaphore), 0);
  const pid_t child = fork();
  if (child == 0) {
    EQUAL(sem_getvalue(&semaphore, &value), 0);
    EQUAL(value, 1);
    EQUAL(sem_wait(&semaphore), 0);
    EXPECT_ERRNO(sem_trywait(&semaphore), EAGAIN);
    _exit(0);
  }
  ends_well(child);
  EQUAL(sem_wait(&semaphore), 0);
}

static sem_t awaited;
static pid_t forked = -1;
static bool posts_in_child;

static void fork_in_handler(int number) {
  (void)number;
  const int before = errno;
  forked = fork();
  if (forked != 0 || posts_in_child) EQUAL(sem_post(&awaited), 0);
  else alarm(1);  // the handler posts later
  errno = before;
}

static void post_in_handler(int number) {
  (void)number;
  EQUAL(sem_post(&awaited), 0);
}

static void* takes_turns(void* unused) {
  (void)unused;
  for (int i = 0; i != 100; ++i) {
    EQUAL(sem_wait(&awaited), 0);
    EQUAL(sem_post(&awaited), 0);
  }
  return NULL;
}

// A process with one thread. Parent and child each get one permit while they wait.
static void fork_while_waiting(int flags, bool posts) {
  posts_in_child = posts;
  EQUAL(sem_init(&awaited, 0, 0), 0);
  EQUAL(sigaction(SIGUSR1, &(struct sigaction){.sa_handler = fork_in_handler, .sa_flags = flags}, NULL), 0);
  EQUAL(sigaction(SIGALRM, &(struct sigaction){.sa_handler = post_in_handler, .sa_flags = flags}, NULL), 0);
  int ends[2];
  EQUAL(pipe(ends), 0);
  const pid_t parent = getpid(), signaller = fork();
  if (signaller == 0) {
    char byte;
    EQUAL(read(ends[0], &byte, 1), 1);  // no signal during the fork above
    nap(50);                            // by now, the parent probably waits
    if (getppid() == parent) kill(parent, SIGUSR1);
    _exit(0);
  }
  EQUAL(write(ends[1], "", 1), 1);
  while (sem_wait(&awaited) != 0) EQUAL(errno, EINTR);
  if (forked != 0) {
    ends_well(signaller);
    ends_well(forked);
    return;
  }
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
  alarm(50);
  EXPECT_ERRNO(sem_trywait(&awaited), EAGAIN);
  EQUAL(sem_post(&awaited), 0);
  pthread_t threads[3];
  for (int i = 0; i != 3; ++i) threads[i] = start(takes_turns, NULL);
  for (int i = 0; i != 3; ++i) join(threads[i]);
  int value = -1;
  EQUAL(sem_getvalue(&awaited, &value), 0);
  EQUAL(value, 1);
  _exit(0);
}

TEST(fork_in_handler_of_waiter, "a handler forks during sem_wait: the wait goes on in the child, or ends with EINTR") {
  fork_while_waiting(0, false);
}

TEST(fork_in_handler_of_restarted_waiter, "the same with SA_RESTART") { fork_while_waiting(SA_RESTART, false); }

TEST(fork_in_handler_that_posts, "a handler forks during sem_wait and posts in the child: the child has one permit") {
  fork_while_waiting(0, true);
}

TEST(fork_in_restarted_handler_that_posts, "the same with SA_RESTART") { fork_while_waiting(SA_RESTART, true); }
