// SPDX-License-Identifier: Apache-2.0
// The registry of waits: which thread waits for which object, and since when.
//
// A WaitRecord on the stack of the waiting thread is the only record of its wait. Everything else derives from it:
//
//   dump(), contended()   list the records (current_waits)
//   .waiters              each record counts itself in its object, so a spinning thread can see with one load whether
//                         the line is empty
//   signals               the record says whether the thread stays in line while a handler runs (Handlers)
//   fork                  the child drops the records of the vanished threads, counts the waiters again, and repairs
//                         the objects that those threads waited for (fork.cpp)
//
// A thread has several records when a signal handler waits during a wait, or when a condition takes its lock again. An
// acquisition that does not wait makes no record.
//
// Each thread links its records into a list of its own, so threads that begin to wait do not contend with each other.
// A thread registers its list once, at its first wait. The lists are on the heap, and the stacks of vanished threads
// stay mapped in the child of a fork for as long as it takes to drop their records.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "python.hpp"

namespace fairlock::python {

// Where a waiting thread runs Python's signal handlers. While it waits on a condition, it stays in line, because a
// notifier must find it there. While it waits for a lock, it leaves the line and comes back, because the handler may
// acquire the lock, or wait for a thread that acquires the lock.
enum class Handlers { in_line, out_of_line };

// Lasts until the thread is attached to the interpreter again. Until then, a lock or a permit that the thread was
// granted has no owner that the child of a fork could find.
//
//   field           holds
//   object          what the thread waits for; borrowed, because the thread holds a reference
//   waiters         the object's count of waiters; null: no count
//   interpreter     the interpreter of the object; null: unknown (C API), and the record matters only to a fork
//   since           when the wait began
//   outer           the record that this record interrupts, of the same thread, or null
//   handlers        where signal handlers run
//   place           the thread's place in the line of a condition, or null; written by the thread
//   claims_permit   whether a semaphore counts the thread among those that have a permit or will get one. The waiter
//                   writes it, at times a little late
class WaitRecord {
 public:
  WaitRecord(PyObject* object, std::atomic<std::uint32_t>* waiters, PyInterpreterState* interpreter, Handlers handlers);
  ~WaitRecord();
  WaitRecord(const WaitRecord&) = delete;
  WaitRecord& operator=(const WaitRecord&) = delete;

  PyObject* const object;
  std::atomic<std::uint32_t>* const waiters;
  PyInterpreterState* const interpreter;
  const std::uint64_t since;
  WaitRecord* const outer;
  const Handlers handlers;
  void* place = nullptr;
  std::atomic<bool> claims_permit{false};
};

struct CurrentWait {
  unsigned long thread;
  PyObject* object;  // a new reference
  std::uint64_t since;
};

// All present waits in the caller's interpreter. The waits of one thread come innermost first.
std::vector<CurrentWait> current_waits();

// An object that vanished threads waited for.
struct LostWaits {
  PyObject* object;               // borrowed: the references of those threads are never given back
  std::uint64_t permits_claimed;  // by those threads
};

// In the child of a fork, where only the calling thread is left.
std::vector<LostWaits> drop_waits_of_vanished_threads();

// The places of the calling thread in the line of a condition, the oldest first. It has several if its signal handlers
// wait for the condition too.
std::vector<void*> own_places(const PyObject* condition);

}  // namespace fairlock::python
