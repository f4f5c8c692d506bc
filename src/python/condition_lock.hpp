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

  bool set(PyObject* lock, const ModuleState& state);  // false: this is no lock, and an exception is set
  void clear();                                        // to None, not null: finalizers may still call methods

  // In the child of a fork. A waiter that vanished may have taken the lock again.
  void repair() const;

  // A lock of fairlock that is held, or that a thread has waited for.
  bool in_use() const {
    return kind != Kind::foreign && (is_held(ours()) || ours()->contention.load(std::memory_order_relaxed) != nullptr);
  }

  // 1, 0, or -1 and an exception. Like threading, it asks a lock that knows no owner whether any thread holds it.
  int is_owned() const;
  bool expect_owned(const char* what) const;  // false: an exception is set

  // --- the steps of a wait: release the lock, take it again, restore its owner and count ---

  struct Held {
    std::size_t count = 1;                  // of an RLock
    ContentionState* contention = nullptr;  // of a lock of fairlock
    PyObject* saved = nullptr;              // by a foreign lock
  };
  bool release_for_wait(Held& held) const;  // false: an exception is set
  // Both take a lock of fairlock, and leave a foreign lock to restore(). A handler that raises does not end them.
  void take_detached(const Held& held, InterruptibleWait& wait) const;
  void take_attached() const;
  // False: a foreign lock refused, and an exception is set. An exception that was set before stays.
  bool restore(Held& held) const;

  // --- the lock's methods ---

  PyObject* enter() const;
  PyObject* exit(PyObject* args) const;
  PyObject* acquire(PyObject* args, PyObject* kwargs) const;
  PyObject* release_save() const;
  PyObject* acquire_restore(PyObject* saved) const;
  PyObject* call(const char* name) const { return PyObject_CallMethod(object, name, nullptr); }

 private:
  LockObject* ours() const { return as<LockObject>(object); }
};

}  // namespace fairlock::python
