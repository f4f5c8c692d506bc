// Who waits for what just now: what fairlock.dump() shows, and what the child of a fork must mend.
//
// A Wait is on the stack of the thread that waits, and a thread has several when a signal handler waits during a wait. Each thread has
// a list of its own, so that those who begin to wait do not wait for each other; a list is linked once, at the thread's first wait.
#pragma once

#include <cstdint>
#include <vector>

#include "python.hpp"

namespace fairlock::python {

class Wait {
 public:
  explicit Wait(PyObject* object, PyInterpreterState* interpreter = PyInterpreterState_Get());  // who is detached must say it
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  PyObject* const object;  // borrowed: whoever waits holds it
  PyInterpreterState* const interpreter;  // whose object it is
  const std::uint64_t since;
  Wait* const outer;
};

struct WaitSeen {
  unsigned long thread;
  PyObject* object;  // a reference of the caller's own
  std::uint64_t since;
};

// All waits of this moment in the caller's interpreter; of one thread, the innermost first.
std::vector<WaitSeen> waits_now();

// In the child of a fork: the other threads are gone, and their lists with them.
void forget_other_threads();

}  // namespace fairlock::python
