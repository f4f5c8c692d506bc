// SPDX-License-Identifier: Apache-2.0
// ConditionLock: the lock of a Condition. It is a Lock or an RLock of fairlock, or a foreign object with acquire() and
// release().
#pragma once

#include "lock.hpp"
#include "module.hpp"

namespace fairlock::python {

struct ConditionLock {
  enum class Kind { lock, rlock, foreign };

  PyObject* object;
  Kind kind;

  bool set(PyObject* lock, const ModuleState& state);  // false: `lock` is not a lock, and an exception is set
  void clear();                                        // sets it to None, not null: finalizers may still call methods

  // Call it in the child of a fork: a waiter that vanished may have taken the lock again.
  void repair() const;

  // Whether this is a fairlock lock that is held, or that a thread has waited for.
  bool in_use() const {
    return kind != Kind::foreign &&
           (is_held(own_lock()) || own_lock()->contention.load(std::memory_order_relaxed) != nullptr);
  }

  // Returns 1, 0, or -1 with an exception set. If the lock does not know its owner, the answer is whether any thread
  // holds it, as in threading.
  int is_owned() const;
  bool expect_owned(const char* what) const;  // false: an exception is set

  // --- the steps of a wait: release the lock, take it again, restore its owner and count ---

  struct SavedState {
    std::size_t count = 1;                  // of an RLock
    ContentionState* contention = nullptr;  // of a lock of fairlock
    PyObject* foreign_state = nullptr;      // what release_save() of a foreign lock returned
  };
  bool release_for_wait(SavedState& state) const;  // false: an exception is set
  // Both acquire a lock of fairlock, even if a signal handler raises. restore() acquires a foreign lock.
  void take_detached(const SavedState& state, InterruptibleWait& wait) const;
  void take_attached() const;
  // False: the acquire of a foreign lock raised, and that exception is set. Otherwise an earlier exception stays set.
  bool restore(SavedState& state) const;

  // --- the lock's methods ---

  PyObject* enter() const;
  PyObject* exit(PyObject* args) const;
  PyObject* acquire(PyObject* args, PyObject* kwargs) const;
  PyObject* release_save() const;
  PyObject* acquire_restore(PyObject* saved) const;
  PyObject* call(const char* name) const { return PyObject_CallMethod(object, name, nullptr); }

 private:
  LockObject* own_lock() const { return as<LockObject>(object); }
};

}  // namespace fairlock::python
