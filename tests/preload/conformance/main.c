// SPDX-License-Identifier: Apache-2.0
// conformance --list     prints "name<TAB>requirement" for every test
// conformance NAME       runs this test in this process: no output and status 0 if it passes
// conformance            runs all tests, a few at a time, each in a new process with the same LD_PRELOAD, and prints a
//                        line for each: ok, FAILED, hangs, skipped or died. The status is 1 unless all are ok or
//                        skipped.
#include "test.h"

#include <dirent.h>

enum { time_limit = 60, longer_time_limit = 120 };  // seconds, after which SIGALRM ends a test
enum { max_hangs = 10 };                            // if this many tests hang, no others start

static struct test* tests;

void add_test(struct test* test) {
  test->next = tests;
  tests = test;
}

// Sorts the tests by name. `add_test` does not, because every process that runs a single test would sort, too.
static void sort(void) {
  struct test* sorted = NULL;
  for (struct test *test = tests, *next; test; test = next) {
    struct test** place = &sorted;
    while (*place && strcmp((*place)->name, test->name) < 0) place = &(*place)->next;
    next = test->next;
    test->next = *place;
    *place = test;
  }
  tests = sorted;
}

// The state and the processor time of each thread of a process: "1234: S 10 ms, R 2000 ms,".
static void print_threads(const char* process) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%s/task", process);
  DIR* const tasks = opendir(path);
  fprintf(stderr, " %s:", process);
  for (const struct dirent* task; tasks && (task = readdir(tasks));) {
    if (task->d_name[0] == '.') continue;
    char state;
    long spent;
    snprintf(path, sizeof path, "/proc/%s/task/%.9s/stat", process, task->d_name);
    FILE* const stat = fopen(path, "r");
    if (!stat) continue;
    if (fscanf(stat, "%*d (%*[^)]) %c", &state) == 1) fprintf(stderr, " %c", state);
    fclose(stat);
    snprintf(path, sizeof path, "/proc/%s/task/%.9s/schedstat", process, task->d_name);
    FILE* const schedstat = fopen(path, "r");
    if (!schedstat) continue;
    if (fscanf(schedstat, "%ld", &spent) == 1) fprintf(stderr, " %ld ms,", spent / 1000000);
    fclose(schedstat);
  }
  if (tasks) closedir(tasks);
}

// A test did not end. Prints what its processes are doing, which distinguishes a hang from a lack of processor time.
static void print_hanging(int alarmed) {
  alarm(5);  // a signal handler should not do all this, but the test has failed in any case
  fprintf(stderr, "\n");
  DIR* const processes = opendir("/proc");
  for (const struct dirent* entry; processes && (entry = readdir(processes));)
    if (atoi(entry->d_name) > 0 && getpgid(atoi(entry->d_name)) == getpgrp()) print_threads(entry->d_name);
  fprintf(stderr, "\n");
  raise(alarmed);
}

static int run_one(const char* name) {
  for (struct test* test = tests; test; test = test->next) {
    if (strcmp(test->name, name) != 0) continue;
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = print_hanging, .sa_flags = SA_RESETHAND | SA_NODEFER}, NULL);
    alarm(never_sleeps() ? longer_time_limit : time_limit);
    test->run();
    return 0;
  }
  fprintf(stderr, "there is no test %s; see --list\n", name);
  return 2;
}

struct run {
  pid_t process;
  int output, status;
};

static void begin(struct run* run, const char* name) {
  run->output = memfd_create(name, MFD_CLOEXEC);
  run->process = fork();
  if (run->process != 0) return;
  setpgid(0, 0);  // so that run_all() can kill the processes that it leaves behind
  dup2(run->output, STDOUT_FILENO);
  dup2(run->output, STDERR_FILENO);
  execl("/proc/self/exe", "conformance", name, (char*)NULL);
  _exit(2);
}

static bool hangs(const struct run* run) { return WIFSIGNALED(run->status) && WTERMSIG(run->status) == SIGALRM; }

// Prints the line of a test, with the last line of its output. Returns whether the test passed or was skipped.
static bool report(const struct run* run, const char* name) {
  if (run->output == 0) {
    printf("FAILED %s: did not start, because %d others hang\n", name, max_hangs);
    return false;
  }
  char text[4096];
  const ssize_t length = pread(run->output, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = '\0';
  if (length > 0 && text[length - 1] == '\n') text[length - 1] = '\0';
  const char* const before = strrchr(text, '\n');
  const char* const message = before ? before + 1 : text;
  const int status = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : -1;
  if (hangs(run)) printf("hangs %s: %s\n", name, message);
  else if (WIFSIGNALED(run->status)) printf("died %s: %s %s\n", name, strsignal(WTERMSIG(run->status)), message);
  else if (status == 77) printf("skipped %s: %s\n", name, message);
  else if (status != 0) printf("FAILED %s: %s\n", name, message);
  else printf("ok %s\n", name);
  return status == 0 || status == 77;
}

static int run_all(void) {
  const int at_a_time = never_sleeps() ? 2 : 4;  // most tests sleep most of the time
  int count = 0, begun = 0, ended = 0, hung = 0;
  for (struct test* test = tests; test; test = test->next) ++count;
  struct run* const runs = calloc((size_t)count, sizeof *runs);
  for (struct test* next = tests;; ++ended) {
    for (; next && begun - ended != at_a_time && hung < max_hangs; next = next->next) begin(&runs[begun++], next->name);
    if (begun == ended) break;
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) return 2;
    kill(-info.si_pid, SIGKILL);  // before the wait: its number cannot belong to another process yet
    struct run* run = runs;
    while (run->process != info.si_pid) ++run;
    waitpid(run->process, &run->status, 0);
    run->process = 0;  // the number may be reused
    hung += hangs(run);
  }
  bool all_passed = true;
  const struct run* run = runs;
  for (struct test* test = tests; test; test = test->next) all_passed &= report(run++, test->name);
  return all_passed ? 0 : 1;
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "--list") != 0) return run_one(arguments[1]);
  sort();
  if (count == 1) return run_all();
  for (struct test* test = tests; test; test = test->next) printf("%s\t%s\n", test->name, test->requirement);
  return 0;
}
