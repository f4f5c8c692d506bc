// SPDX-License-Identifier: Apache-2.0
// Primitive: the common part of Lock, RLock, Semaphore, BoundedSemaphore and Capacitor: an algorithm, its memory, and
// the wait.
//
//   field        holds                                                         written by
//   algorithm    the algorithm and its policy                                  the constructor, __init__
//   state        the memory of the algorithm: `room`, or a block of its own    the constructor, __init__
//                if `room` is too small or not aligned enough
//   contention   the state that only a contended object needs, or null         the first thread that waits
//   initialized  __init__ was called. A second call raises, and so does the    __init__
//                first call if the object is already in use
//   kind         the type of the object, which may also be a subclass of it    the constructor
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "algorithm_table.hpp"
#include "python.hpp"

namespace fairlock::python {

struct ContentionState {
  std::atomic<std::uint32_t> waiters{0};             // written by WaitRecord alone
  std::atomic<bool> defers_reference_counts{false};  // free-threaded builds
  WaitTally<DefaultPlatform> tally{};
};

enum class Kind : std::uint8_t { lock, rlock, semaphore, bounded_semaphore, capacitor };

struct Primitive {
  PyObject ob_base;
  PyObject* weak_references;
  const Algorithm* algorithm;
  void* state;
  std::atomic<ContentionState*> contention;
  alignas(8) unsigned char room[24];
  std::atomic<bool> initialized;
  Kind kind;
};

// --- waiting, after an attempt that failed ---

enum class Outcome { error = -1, timed_out = 0, acquired = 1 };

// Waits in line, detached from the interpreter.
Outcome wait_for(Primitive* self, std::uint64_t deadline);

// Waits without a deadline, even if a signal handler raises: the result is then true, and the exception is set. False:
// there is no memory, and an exception is set.
bool wait_unconditionally(Primitive* self);

// The detached part of a wait. The caller is detached already. False: the deadline of `wait` has passed.
bool wait_detached(Primitive* self, ContentionState& contention, InterruptibleWait& wait);

// Allocates the state on first use. Null: there is no memory.
ContentionState* contention_of(Primitive* self);

// --- construction ---

// For tp_new, which ignores its arguments, because a subclass may take others.
PyObject* create(PyTypeObject* type, Kind kind, const Algorithm& algorithm, const Knobs& knobs);
// For tp_init. False: an exception is set.
bool initialize(Primitive* self, const Algorithm& algorithm, const Knobs& knobs);
// Empties the line, for the child of a fork.
void reset(Primitive* self, std::uint64_t permits);

// The arguments of a constructor. Null: not given.
struct Choice {
  PyObject *algorithm = nullptr, *waiting = nullptr, *platoon = nullptr, *skip = nullptr;
};
inline constexpr long long max_platoon = 1'000'000;
// Null: an exception is set.
const Algorithm* choose(const Choice& choice, const Algorithm* (*find)(const char*, const char*),
                        const Algorithm& default_algorithm, Knobs& knobs);
// False: an exception is set.
bool parse_knobs(PyObject* platoon, PyObject* skip, Knobs& knobs);

// --- slots, methods and attributes that the types share ---

extern PyMemberDef primitive_members[];
void primitive_dealloc(PyObject* self);
int primitive_traverse(PyObject* self, visitproc visit, void* arg);
PyObject* primitive_statistics(PyObject* self, PyObject*);
PyObject* refuse_to_pickle(PyObject* self, PyObject*);
PyObject* get_algorithm(PyObject* self, void*);
PyObject* get_policy(PyObject* self, void*);
PyObject* get_waiters(PyObject* self, void*);
PyObject* refuse_waiting(PyObject* self, void*);  // the old name of `waiters`

inline constexpr const char* statistics_doc =
    "statistics($self, /)\n--\n\n"
    "Return the counts and times of the contended acquisitions so far, as a Statistics.\n\n"
    "Acquisitions that do not wait are not counted.";
inline constexpr const char* enter_doc = "__enter__($self, /)\n--\n\nCall acquire(), without a timeout.";
inline constexpr const char* exit_doc = "__exit__($self, /, *exc_info)\n--\n\nCall release().";
inline constexpr const char* algorithm_doc = "The name of the algorithm.";
inline constexpr const char* policy_doc = "The name of the waiting policy: the argument `waiting` of the constructor.";
inline constexpr const char* waiting_doc =
    "The old name of waiters. Raises AttributeError, because waiting is now the policy.";

}  // namespace fairlock::python
