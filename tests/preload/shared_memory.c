// SPDX-License-Identifier: Apache-2.0
// Several processes increment a number in shared memory. The object that protects the number lies in the same memory,
// and was not declared process-shared.
//
//   shared_memory mutex|zero|condition|semaphore mmap|shmat
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { children = 3, turns = 2000 };

static struct memory {
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  sem_t semaphore;
  int busy;
  volatile long number;
}* shared;

static void increment(int turn) {
  const long before = shared->number;
  if (turn % 16 == 0) sched_yield();  // so that the other processes have to wait
  shared->number = before + 1;
}

static void under_mutex(int turn) {
  pthread_mutex_lock(&shared->mutex);
  increment(turn);
  pthread_mutex_unlock(&shared->mutex);
}

static void under_condition(int turn) {
  pthread_mutex_lock(&shared->mutex);
  while (shared->busy) pthread_cond_wait(&shared->condition, &shared->mutex);
  shared->busy = 1;
  pthread_mutex_unlock(&shared->mutex);
  increment(turn);
  pthread_mutex_lock(&shared->mutex);
  shared->busy = 0;
  pthread_cond_signal(&shared->condition);
  pthread_mutex_unlock(&shared->mutex);
}

static void under_semaphore(int turn) {
  while (sem_wait(&shared->semaphore) != 0) {}
  increment(turn);
  sem_post(&shared->semaphore);
}

static void* make_shared_memory(const char* how) {
  if (strcmp(how, "mmap") == 0)
    return mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const int segment = shmget(IPC_PRIVATE, sizeof *shared, 0600);
  void* const attached = shmat(segment, NULL, 0);
  shmctl(segment, IPC_RMID, NULL);
  return attached;
}

int main(int count, char** words) {
  if (count != 3) return 2;
  shared = make_shared_memory(words[2]);
  if (shared == MAP_FAILED) return 3;
  void (*const turn)(int) = strcmp(words[1], "semaphore") == 0   ? under_semaphore
                            : strcmp(words[1], "condition") == 0 ? under_condition
                                                                 : under_mutex;
  if (strcmp(words[1], "zero") != 0) {
    pthread_mutex_init(&shared->mutex, NULL);
    pthread_cond_init(&shared->condition, NULL);
    sem_init(&shared->semaphore, 0, 1);
  }
  for (int child = 0; child != children; ++child)
    if (fork() == 0) {
      for (int i = 0; i != turns; ++i) turn(i);
      _exit(0);
    }
  for (int i = 0; i != turns; ++i) turn(i);
  for (int child = 0; child != children; ++child) wait(NULL);
  printf("%ld of %d\n", shared->number, (children + 1) * turns);
  return 0;
}
