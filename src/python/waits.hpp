// SPDX-License-Identifier: Apache-2.0
// Who waits for what just now: what fairlock.dump() shows, and what the child of a fork must mend.
//
// A Wait is on the stack of the thread that waits, and a thread has several when a signal handler waits during a wait.
// Each thread has a list of its own, so that those who begin to wait do not wait for each other; a list is linked once,
// at the thread's first wait. It is on the heap, where the child of a fork still finds it; so are, for a moment, the
// stacks of the threads that are gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "python.hpp"

namespace fairlock::python {

// Lasts until the thread is back in the interpreter: what it was granted before that is nobody's in the child of a
// fork.
class Wait {
 public:
  // Whose object it is: null if that is not known, and then only the child of a fork sees it. in_line: also while a
  // signal handler runs (Handlers, wait.hpp).
  Wait(PyObject* object, PyInterpreterState* interpreter, bool in_line = false);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  PyObject* const object;  // borrowed: whoever waits holds it
  PyInterpreterState* const interpreter;
  const std::uint64_t since;
  Wait* const outer;
  const bool in_line;
  // By its semaphore, as one that has a permit or will be given one; at times a little too late.
  std::atomic<bool> counted{false};
};

struct WaitSeen {
  unsigned long thread;
  PyObject* object;  // a reference of the caller's own
  std::uint64_t since;
};

// All waits of this moment in the caller's interpreter; of one thread, the innermost first.
std::vector<WaitSeen> waits_now();

// What threads waited for that are gone (borrowed; the references that they held are never given back), and how many
// were counted.
struct WaitedFor {
  PyObject* object;
  std::uint64_t counted;
  bool mine_too;  // the calling thread is itself in line for it
};

// In the child of a fork, where the other threads are gone.
std::vector<WaitedFor> forget_other_threads();

}  // namespace fairlock::python
