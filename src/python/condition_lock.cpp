// SPDX-License-Identifier: Apache-2.0
#include "condition_lock.hpp"

#include <utility>

namespace fairlock::python {

namespace {

bool has_attribute(PyObject* object, const char* name) {
  PyObject* const attribute = PyObject_GetAttrString(object, name);
  if (attribute == nullptr) PyErr_Clear();
  Py_XDECREF(attribute);
  return attribute != nullptr;
}

// Whether the result of a call is true. -1: the call raised.
int truth(PyObject* result) {
  const int truth = result == nullptr ? -1 : PyObject_IsTrue(result);
  Py_XDECREF(result);
  return truth;
}

bool not_owned(const char* what) {
  PyErr_Format(PyExc_RuntimeError, "cannot %s on un-acquired lock: use the condition in a with statement", what);
  return false;
}

// Sets the current exception aside while other Python code runs.
class SavedException {
 public:
  SavedException() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~SavedException() {
    if (type_ != nullptr) PyErr_Restore(type_, value_, trace_);
  }
  SavedException(const SavedException&) = delete;
  SavedException& operator=(const SavedException&) = delete;

 private:
  PyObject *type_, *value_, *trace_;
};

}  // namespace

bool ConditionLock::set(PyObject* lock, const ModuleState& state) {
  // The methods of a subclass may do anything, so a subclass counts as foreign.
  const Kind new_kind = Py_TYPE(lock) == state.rlock  ? Kind::rlock
                        : Py_TYPE(lock) == state.lock ? Kind::lock
                                                      : Kind::foreign;
  if (PyType_Check(lock)) {
    PyErr_Format(PyExc_AttributeError, "a condition needs a lock, not the type %.100s: call the type to create a lock",
                 as<PyTypeObject>(lock)->tp_name);
    return false;
  }
  if (new_kind == Kind::foreign && (!has_attribute(lock, "acquire") || !has_attribute(lock, "release"))) {
    PyErr_Format(PyExc_AttributeError, "a condition needs a lock with acquire() and release(), not %.100s",
                 Py_TYPE(lock)->tp_name);
    return false;
  }
  kind = new_kind;
  Py_XSETREF(object, Py_NewRef(lock));
  return true;
}

void ConditionLock::clear() {
  kind = Kind::foreign;
  Py_XSETREF(object, Py_NewRef(Py_None));
}

int ConditionLock::is_owned() const {
  if (kind == Kind::lock) return is_held(own_lock());
  if (kind == Kind::rlock) return owned_by_me(own_lock());
  if (has_attribute(object, "_is_owned")) return truth(call("_is_owned"));
  const int acquired = truth(PyObject_CallMethod(object, "acquire", "O", Py_False));
  if (acquired <= 0) return acquired < 0 ? -1 : 1;
  PyObject* const released = call("release");
  Py_XDECREF(released);
  return released == nullptr ? -1 : 0;
}

bool ConditionLock::expect_owned(const char* what) const {
  const int owned = is_owned();
  if (owned == 0) not_owned(what);
  return owned == 1;
}

bool ConditionLock::release_for_wait(SavedState& state) const {
  if (kind == Kind::foreign) {
    state.foreign_state = release_save();
    return state.foreign_state != nullptr;
  }
  LockObject* const lock = own_lock();
  if ((state.contention = contention_of(lock)) == nullptr) {
    PyErr_NoMemory();
    return false;
  }
  // Another thread may have released the lock since the caller checked the owner.
  if (kind == Kind::rlock ? !owned_by_me(lock) : disown(lock) == 0) return not_owned("wait");
  if (kind == Kind::rlock) {
    state.count = std::exchange(lock->count, 0);
    disown(lock);
  }
  give_back(lock);
  return true;
}

void ConditionLock::take_attached() const {
  // The wait cannot fail: release_for_wait() has allocated its memory.
  if (kind != Kind::foreign && !try_take(own_lock())) wait_unconditionally(own_lock());
}

void ConditionLock::take_detached(const SavedState& state, InterruptibleWait& wait) const {
  if (kind == Kind::foreign) return;
  wait.make_unconditional();
  bool taken = try_take(own_lock());
  // The notifier may still hold the lock, but is about to release it.
  for (int i = 0; !taken && i < 20; ++i) {
    DefaultPlatform::pause(16);
    taken = own_lock()->algorithm->permits(own_lock()->state) > 0 && try_take(own_lock());
  }
  if (taken) return;
  // A second record: the thread still belongs to the condition, and now waits for the lock.
  const WaitRecord record(object, &state.contention->waiters, wait.interpreter(), Handlers::out_of_line);
  wait_detached(own_lock(), *state.contention, wait);
}

void ConditionLock::repair() const {
  if (kind != Kind::foreign) repair_lock(object);
}

bool ConditionLock::restore(SavedState& state) const {
  if (kind != Kind::foreign) {
    own_lock()->owner.store(this_thread(), std::memory_order_relaxed);
    own_lock()->count = state.count;
    return true;
  }
  const SavedException exception;
  PyObject* const taken = acquire_restore(state.foreign_state);
  Py_CLEAR(state.foreign_state);
  Py_XDECREF(taken);
  return taken != nullptr;
}

PyObject* ConditionLock::enter() const {
  return kind == Kind::rlock  ? rlock_enter(object, nullptr)
         : kind == Kind::lock ? lock_enter(object, nullptr)
                              : call("__enter__");
}

PyObject* ConditionLock::exit(PyObject* args) const {
  if (kind == Kind::rlock) return rlock_release(object, nullptr);
  if (kind == Kind::lock) return lock_release(object, nullptr);
  PyObject* const function = PyObject_GetAttrString(object, "__exit__");
  PyObject* const result = function == nullptr ? nullptr : PyObject_CallObject(function, args);
  Py_XDECREF(function);
  return result;
}

PyObject* ConditionLock::acquire(PyObject* args, PyObject* kwargs) const {
  PyObject* const function = PyObject_GetAttrString(object, "acquire");
  PyObject* const result = function == nullptr ? nullptr : PyObject_Call(function, args, kwargs);
  Py_XDECREF(function);
  return result;
}

PyObject* ConditionLock::release_save() const {
  return call(has_attribute(object, "_release_save") ? "_release_save" : "release");
}

PyObject* ConditionLock::acquire_restore(PyObject* saved) const {
  // The parentheses keep a tuple together as one argument.
  if (has_attribute(object, "_acquire_restore")) return PyObject_CallMethod(object, "_acquire_restore", "(O)", saved);
  return call("acquire");
}

}  // namespace fairlock::python
