// SPDX-License-Identifier: Apache-2.0
// Primitive: what Lock, RLock, Semaphore and BoundedSemaphore share. An algorithm of the catalogue, the memory it works
// on, and the way to wait for it.
//
//   field       holds                                                       written by
//   algorithm   which one it is                                             the constructor
//   state       the memory of the algorithm: `room`, or its own if that is  the constructor
//               too small or not aligned enough
//   slow        what only contended ones need; null before that             the first thread that waits
//   set_up      __init__ was called: a second time it is refused, and a     __init__
//               first time too when it is in use already
//   sort        which type it is, or a subclass of that                     the constructor
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "algorithm.hpp"
#include "python.hpp"

namespace fairlock::python {

struct Slow {
  std::atomic<std::uint32_t> waiting{0};
  std::atomic<bool> shared{false};  // free-threaded: references to the object are no longer counted on every call
  WaitTally<DefaultPlatform> tally{};
};

enum class Sort : std::uint8_t { lock, rlock, semaphore, bounded_semaphore, capacitor };

struct Primitive {
  PyObject ob_base;
  PyObject* weak_references;
  const Algorithm* algorithm;
  void* state;
  std::atomic<Slow*> slow;
  alignas(8) unsigned char room[24];
  std::atomic<bool> set_up;
  Sort sort;
};

// Keeps a count of those who wait right on every way out, also when the thread ends in between.
class InLine {
 public:
  explicit InLine(std::atomic<std::uint32_t>& waiting) : waiting_(waiting) {
    waiting_.fetch_add(1, std::memory_order_release);
  }
  ~InLine() { waiting_.fetch_sub(1, std::memory_order_relaxed); }
  InLine(const InLine&) = delete;
  InLine& operator=(const InLine&) = delete;

 private:
  std::atomic<std::uint32_t>& waiting_;
};

enum class Outcome { error = -1, timed_out = 0, acquired = 1 };

// After a try that failed. Waits in line, detached from the interpreter.
Outcome wait_for(Primitive* self, std::uint64_t deadline);
// The same without a deadline, even if a signal handler raises: the result is then true, and the exception is set.
// False: no memory, and an exception is set.
bool wait_unconditionally(Primitive* self);
// The part of it that is done detached; for whoever is so already. False: the deadline of `patience` has passed.
bool wait_detached(Primitive* self, Slow& slow, Patience& patience, Wait& wait);

// Makes it if need be. Null: no memory.
Slow* slow_of(Primitive* self);

// For tp_new, which takes whatever a subclass is called with, for tp_init, and for _at_fork_reinit.
PyObject* make(PyTypeObject* type, Sort sort, const Algorithm& algorithm, const Knobs& knobs);
bool set_up(Primitive* self, const Algorithm& algorithm, const Knobs& knobs);
void renew(Primitive* self, std::uint64_t permits);

// Of a constructor: algorithm and waiting as strings; platoon and skip, each null if not given.
struct Choice {
  PyObject *algorithm = nullptr, *waiting = nullptr, *platoon = nullptr, *skip = nullptr;
};
inline constexpr long long max_platoon = 1'000'000;
bool turn_knobs(PyObject* platoon, PyObject* skip, Knobs& knobs);  // each null if not given; false: an exception is set
const Algorithm* choose(const Choice& choice, const Algorithm* (*find)(const char*, const char*),
                        const Algorithm& otherwise, Knobs& knobs);

// --- slots and tables that the types have in common ---

extern PyMemberDef primitive_members[];
void primitive_dealloc(PyObject* self);
int primitive_traverse(PyObject* self, visitproc visit, void* arg);
PyObject* primitive_statistics(PyObject* self, PyObject*);
PyObject* refuse_to_pickle(PyObject* self, PyObject*);
PyObject* get_algorithm(PyObject* self, void*);
PyObject* get_waiting(PyObject* self, void*);

inline constexpr const char* statistics_doc =
    "statistics($self, /)\n--\n\nReturn what those went through who had to wait, as a Statistics. Uncontended acquisitions are not counted.";
inline constexpr const char* enter_doc = "__enter__($self, /)\n--\n\nacquire(), without a timeout.";
inline constexpr const char* exit_doc = "__exit__($self, /, *exc_info)\n--\n\nrelease().";

}  // namespace fairlock::python
