// SPDX-License-Identifier: Apache-2.0
#include "harness/hogs.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "harness/clocks.hpp"
#include "harness/errors.hpp"

namespace bench {
namespace {

[[noreturn]] void burn(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);     // the parent died before the line above
  for (int i = 0; i < 3; ++i) close(i);  // a reader of the benchmark's output must not wait for the hogs
  for (;;) asm volatile("");
}

}  // namespace

Hogs::Hogs(unsigned number) {
  const pid_t parent = getpid();
  for (unsigned i = 0; i < number; ++i) {
    const pid_t child = fork();
    if (child == 0) burn(parent);
    if (child < 0) {
      const int error = errno;
      end();
      refuse(std::string("could not start a CPU hog: ") + std::strerror(error));
    }
    children_.push_back(child);
  }
  if (number != 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until all of them run
}

Hogs::~Hogs() { end(); }

double Hogs::cpu_seconds() const {
  double sum = 0;
  for (const pid_t child : children_)
    if (clockid_t clock; clock_getcpuclockid(child, &clock) == 0) sum += bench::cpu_seconds(clock);
  return sum;
}

void Hogs::end() {
  for (const pid_t child : children_) kill(child, SIGKILL);
  for (const pid_t child : children_)
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  children_.clear();
}

}  // namespace bench
