// SPDX-License-Identifier: Apache-2.0
// What a test program needs: CHECK, a scale for the number of rounds, a watchdog, threads that start together, and
// child processes that are expected to die.
//
//   program [SCALE]     0.1 does a tenth of the rounds (sanitizers, emulators)
//
// Exit status: 0 passed, 1 a check failed, 77 skipped, 124 stuck (with the step on stderr).
#pragma once

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace check {

inline constexpr int skipped = 77, stuck = 124;
inline constexpr unsigned step_seconds = 100;  // far longer than any step takes, unless it hangs

inline std::atomic<unsigned> failures{0};
inline double scale = 1;
inline char current_step[256] = "start";  // for messages; only the main thread writes it

inline void start(int argc, char** argv) {
  if (argc > 1) scale = std::atof(argv[1]);
  std::signal(SIGALRM, [](int) {
    const char* const parts[] = {"stuck in: ", current_step, "\n"};
    for (const char* part : parts)
      if (write(2, part, std::strlen(part)) < 0) break;
    _exit(stuck);
  });
  alarm(step_seconds);
}

// Name the next step, and restart the watchdog.
template <class... Words>
void step(const Words&... words) {
  std::string text;
  ((text += words, text += ' '), ...);
  std::snprintf(current_step, sizeof current_step, "%s", text.c_str());
  alarm(step_seconds);
}

inline unsigned rounds(unsigned n) { return std::max(1u, static_cast<unsigned>(n * scale)); }

inline int result() {
  if (failures == 0) std::puts("passed");
  return failures == 0 ? 0 : 1;
}

inline bool that(bool good, const char* what, const char* file, int line) {
  if (good) return true;
  if (failures.fetch_add(1) < 20)
    std::fprintf(stderr, "%s:%d: failed: %s   (in: %s)\n", file, line, what, current_step);
  return false;
}

#define CHECK(...) ::check::that(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

// Run work(0) ... work(n - 1), each on its own thread. The threads start together.
template <class Work>
void together(unsigned n, Work work) {
  std::atomic<unsigned> here{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      for (here.fetch_add(1); here.load() < n;) std::this_thread::yield();
      work(i);
    });
  for (auto& thread : threads) thread.join();
}

template <class Condition>
void wait_until(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

struct Death {
  int signal;           // the signal that ended the child, or 0
  int status;           // its exit status, if no signal ended it
  std::string message;  // what it wrote to stderr

  bool aborted_saying(std::string_view words) const {
    if (signal == SIGABRT && message.find(words) != message.npos) return true;
    std::fprintf(stderr, "expected an abort with \"%.*s\"; got signal %d, status %d and \"%s\"\n",
                 static_cast<int>(words.size()), words.data(), signal, status, message.c_str());
    return false;
  }
};

// Run `work` in a child process. Call it only while no other thread lives.
template <class Work>
Death in_child(Work work) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    alarm(step_seconds / 2);
    work();
    _exit(0);
  }
  close(ends[1]);
  std::string message;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) message.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0, std::move(message)};
}

}  // namespace check
