// SPDX-License-Identifier: Apache-2.0
// The lock below a condition: a Lock or an RLock of ours, or whatever has acquire() and release().
#pragma once

#include "lock.hpp"
#include "module.hpp"

namespace fairlock::python {

struct LockBelow {
  enum class Kind { lock, rlock, foreign };

  PyObject* object;
  Kind kind;

  bool set(PyObject* lock, const ModuleState& state);  // false: that is no lock, and an exception is set
  // In the child of a fork: somebody may have taken it again who is gone.
  void mend() const;
  void clear();  // finalizers may still call methods: so not null

  // Of ours: it is held, or somebody has waited for it.
  bool in_use() const {
    return kind != Kind::foreign && (is_held(ours()) || ours()->slow.load(std::memory_order_relaxed) != nullptr);
  }

  // 1, 0, or -1 and an exception. As in threading: of a lock that knows no owner, whether anybody holds it.
  int is_owned() const;
  bool expect_owned(const char* what) const;  // false: an exception is set

  // --- a wait: let go, take again (ours), and hold as before ---

  struct Held {
    std::size_t count = 1;      // of ours
    Slow* slow = nullptr;       // of ours
    PyObject* saved = nullptr;  // of a foreign lock
  };
  bool let_go(Held& held) const;  // false: an exception is set
  void take_detached(const Held& held, Patience& patience) const;
  void take_attached() const;  // the same, by an attached thread. If a signal handler raises, the exception is set
  // false: a foreign lock refused, and an exception is set. One that was set before stays.
  bool hold_again(Held& held) const;

  // --- its methods ---

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
