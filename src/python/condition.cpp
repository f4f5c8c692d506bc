// Condition: over a Lock or an RLock of ours, or over whatever has acquire() and release().
#include <fairlock/waiter_line.hpp>

#include "lock.hpp"
#include "module.hpp"
#include "timeout.hpp"
#include "waits.hpp"

namespace fairlock::python {

namespace {

enum class Kind { lock, rlock, foreign };

struct ConditionObject {
  PyObject ob_base;
  PyObject* weak_references;
  PyObject* lock;
  Kind kind;
  std::atomic<bool> set_up;  // __init__ was called
  std::atomic<std::uint32_t> waiting;
  WaiterLine<DefaultPlatform> line;
};

ConditionObject* condition_of(PyObject* object) { return as<ConditionObject>(object); }
LockObject* native(const ConditionObject* self) { return as<LockObject>(self->lock); }

bool has(PyObject* object, const char* name) {
  PyObject* const attribute = PyObject_GetAttrString(object, name);
  if (attribute == nullptr) PyErr_Clear();
  Py_XDECREF(attribute);
  return attribute != nullptr;
}

// Of one argument, also if that is a tuple.
PyObject* call_with(PyObject* object, const char* name, PyObject* argument) { return PyObject_CallMethod(object, name, "(O)", argument); }

// --- the lock below ---

// 1, 0, or -1 and an exception. As in threading: of a lock that knows no owner, whether anybody holds it.
int is_owned(const ConditionObject* self) {
  if (self->kind == Kind::lock) return is_held(native(self));
  if (self->kind == Kind::rlock) return owned_by_me(native(self));
  PyObject* result;
  if (has(self->lock, "_is_owned")) {
    result = PyObject_CallMethod(self->lock, "_is_owned", nullptr);
  } else {
    result = PyObject_CallMethod(self->lock, "acquire", "O", Py_False);
    const int free = result == nullptr ? -1 : PyObject_IsTrue(result);
    Py_XDECREF(result);
    if (free <= 0) return free < 0 ? -1 : 1;
    result = PyObject_CallMethod(self->lock, "release", nullptr);
    Py_XDECREF(result);
    return result == nullptr ? -1 : 0;
  }
  const int owned = result == nullptr ? -1 : PyObject_IsTrue(result);
  Py_XDECREF(result);
  return owned;
}

bool not_owned(const char* what) {
  PyErr_Format(PyExc_RuntimeError, "cannot %s on un-acquired lock: use the condition in a with statement", what);
  return false;
}

// How the lock was held before a wait.
struct Saved {
  std::size_t count = 1;      // ours
  PyObject* state = nullptr;  // of a foreign lock
};

bool release_save(const ConditionObject* self, Saved& saved) {
  if (self->kind != Kind::foreign) {
    LockObject* const lock = native(self);
    // It may have been released since the caller looked.
    if (self->kind == Kind::rlock ? !owned_by_me(lock) : disown(lock) == 0) return not_owned("wait");
    if (self->kind == Kind::rlock) {
      saved.count = std::exchange(lock->count, 0);
      disown(lock);
    }
    give_back(lock);
    return true;
  }
  if (has(self->lock, "_release_save")) {
    saved.state = PyObject_CallMethod(self->lock, "_release_save", nullptr);
    return saved.state != nullptr;
  }
  PyObject* const released = PyObject_CallMethod(self->lock, "release", nullptr);
  Py_XDECREF(released);
  return released != nullptr;
}

bool acquire_restore(const ConditionObject* self, Saved& saved) {
  PyObject* const result = saved.state != nullptr ? call_with(self->lock, "_acquire_restore", saved.state)
                                                  : PyObject_CallMethod(self->lock, "acquire", nullptr);
  Py_CLEAR(saved.state);
  Py_XDECREF(result);
  return result != nullptr;
}

// --- waiting ---

// The exception that is set, put aside while the lock is taken again.
class Aside {
 public:
  Aside() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~Aside() {
    if (type_ != nullptr) PyErr_Restore(type_, value_, trace_);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  PyObject *type_, *value_, *trace_;
};

class InLine {
 public:
  explicit InLine(ConditionObject* self) : self_(self) { self_->waiting.fetch_add(1, std::memory_order_relaxed); }
  ~InLine() { self_->waiting.fetch_sub(1, std::memory_order_relaxed); }
  InLine(const InLine&) = delete;
  InLine& operator=(const InLine&) = delete;

 private:
  ConditionObject* self_;
};

// Has the lock again afterwards, unless a foreign one refuses.
Outcome wait_until(ConditionObject* self, std::uint64_t deadline) {
  Slow* const slow = self->kind == Kind::foreign ? nullptr : slow_of(native(self));
  if (self->kind != Kind::foreign && slow == nullptr) {
    PyErr_NoMemory();
    return Outcome::error;
  }
  Saved saved;
  bool notified, raised;
  {
    WaiterLine<DefaultPlatform>::Place place(self->line);  // whoever has the lock after us finds us in line
    if (!release_save(self, saved)) return Outcome::error;
    const InLine in_line(self);
    const Wait wait(reinterpret_cast<PyObject*>(self), PyInterpreterState_Get(), true);
    Patience patience(deadline);
    notified = place.wait(patience);
    if (self->kind != Kind::foreign) {
      // Before we attach, which may take long: a thread that has the interpreter and waits for the lock would wait for us.
      LockObject* const lock = native(self);
      patience.without_end();
      if (!try_take(lock)) wait_detached(lock, *slow, patience);
    }
    raised = patience.attach();
  }
  if (self->kind != Kind::foreign) {
    LockObject* const lock = native(self);
    lock->owner.store(this_thread(), std::memory_order_relaxed);
    lock->count = saved.count;
  } else {
    const Aside exception;
    if (!acquire_restore(self, saved)) return Outcome::error;
  }
  if (!raised) return notified ? Outcome::acquired : Outcome::timed_out;
  if (notified) self->line.notify(1);  // it must not be lost with us
  return Outcome::error;
}

bool expect_owned(const ConditionObject* self, const char* what) {
  const int owned = is_owned(self);
  if (owned == 0) not_owned(what);
  return owned == 1;
}

DeadlineOrError deadline_of(PyObject* timeout) {
  return timeout == nullptr || timeout == Py_None ? DeadlineOrError(never) : deadline_after(timeout);
}

PyObject* condition_wait(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"timeout", nullptr};
  PyObject* timeout = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:wait", const_cast<char**>(names), &timeout)) return nullptr;
  ConditionObject* const self = condition_of(object);
  if (!expect_owned(self, "wait")) return nullptr;
  const auto deadline = deadline_of(timeout);
  if (!deadline) return nullptr;
  const auto outcome = wait_until(self, *deadline);
  if (outcome == Outcome::error) return nullptr;
  return PyBool_FromLong(outcome == Outcome::acquired);
}

PyObject* condition_wait_for(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"predicate", "timeout", nullptr};
  PyObject *predicate, *timeout = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:wait_for", const_cast<char**>(names), &predicate, &timeout)) return nullptr;
  ConditionObject* const self = condition_of(object);
  const auto deadline = deadline_of(timeout);
  if (!deadline) return nullptr;
  for (bool in_time = true;;) {
    PyObject* const result = PyObject_CallNoArgs(predicate);
    if (result == nullptr) return nullptr;
    const int holds = PyObject_IsTrue(result);
    if (holds > 0 || (holds == 0 && !in_time)) return result;
    Py_DECREF(result);
    if (holds < 0) return nullptr;
    if (!expect_owned(self, "wait")) return nullptr;
    const auto outcome = wait_until(self, *deadline);
    if (outcome == Outcome::error) return nullptr;
    in_time = outcome == Outcome::acquired;
  }
}

// --- notifying ---

PyObject* condition_notify(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"n", nullptr};
  PyObject* given = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:notify", const_cast<char**>(names), &given)) return nullptr;
  int overflow = 0;
  const long long n = given == nullptr ? 1 : PyLong_AsLongLongAndOverflow(given, &overflow);
  if (n == -1 && PyErr_Occurred() != nullptr) return nullptr;
  ConditionObject* const self = condition_of(object);
  if (!expect_owned(self, "notify")) return nullptr;
  if (n > 0 || overflow > 0) self->line.notify(overflow > 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(n));
  Py_RETURN_NONE;
}

PyObject* condition_notify_all(PyObject* object, PyObject*) {
  ConditionObject* const self = condition_of(object);
  if (!expect_owned(self, "notify")) return nullptr;
  self->line.notify(~std::uint64_t{0});
  Py_RETURN_NONE;
}

PyObject* condition_notify_all_old(PyObject* object, PyObject*) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, "notifyAll() is deprecated, use notify_all() instead", 1) < 0) return nullptr;
  return condition_notify_all(object, nullptr);
}

// --- the lock's methods ---

PyObject* condition_enter(PyObject* object, PyObject*) {
  const ConditionObject* const self = condition_of(object);
  if (self->kind == Kind::rlock) return rlock_enter(self->lock, nullptr);
  if (self->kind == Kind::lock) return lock_enter(self->lock, nullptr);
  return PyObject_CallMethod(self->lock, "__enter__", nullptr);
}

PyObject* condition_exit(PyObject* object, PyObject* args) {
  const ConditionObject* const self = condition_of(object);
  if (self->kind == Kind::rlock) return rlock_release(self->lock, nullptr);
  if (self->kind == Kind::lock) return lock_release(self->lock, nullptr);
  PyObject* const exit = PyObject_GetAttrString(self->lock, "__exit__");
  PyObject* const result = exit == nullptr ? nullptr : PyObject_CallObject(exit, args);
  Py_XDECREF(exit);
  return result;
}

PyObject* call_lock(PyObject* object, const char* name, PyObject* args, PyObject* kwargs) {
  PyObject* const function = PyObject_GetAttrString(condition_of(object)->lock, name);
  PyObject* const result = function == nullptr ? nullptr : PyObject_Call(function, args, kwargs);
  Py_XDECREF(function);
  return result;
}

PyObject* condition_acquire(PyObject* object, PyObject* args, PyObject* kwargs) { return call_lock(object, "acquire", args, kwargs); }
PyObject* condition_release(PyObject* object, PyObject*) { return PyObject_CallMethod(condition_of(object)->lock, "release", nullptr); }
PyObject* condition_locked(PyObject* object, PyObject*) { return PyObject_CallMethod(condition_of(object)->lock, "locked", nullptr); }

PyObject* condition_is_owned(PyObject* object, PyObject*) {
  const int owned = is_owned(condition_of(object));
  return owned < 0 ? nullptr : PyBool_FromLong(owned);
}

PyObject* condition_release_save(PyObject* object, PyObject*) {
  const ConditionObject* const self = condition_of(object);
  return PyObject_CallMethod(self->lock, has(self->lock, "_release_save") ? "_release_save" : "release", nullptr);
}

PyObject* condition_acquire_restore(PyObject* object, PyObject* saved) {
  const ConditionObject* const self = condition_of(object);
  if (has(self->lock, "_acquire_restore")) return call_with(self->lock, "_acquire_restore", saved);
  return PyObject_CallMethod(self->lock, "acquire", nullptr);
}

PyObject* condition_recursion_count(PyObject* object, PyObject*) {
  return PyObject_CallMethod(condition_of(object)->lock, "_recursion_count", nullptr);
}

PyObject* condition_at_fork_reinit(PyObject* object, PyObject*) {
  mend_condition(object);
  return PyObject_CallMethod(condition_of(object)->lock, "_at_fork_reinit", nullptr);
}

PyObject* condition_repr(PyObject* object) {
  const ConditionObject* const self = condition_of(object);
  return PyUnicode_FromFormat("<Condition(%R, %u)>", self->lock, self->waiting.load(std::memory_order_relaxed));
}

PyObject* get_lock(PyObject* object, void*) { return Py_NewRef(condition_of(object)->lock); }
PyObject* get_waiting_threads(PyObject* object, void*) {
  return PyLong_FromUnsignedLong(condition_of(object)->waiting.load(std::memory_order_relaxed));
}

// --- life ---

bool set_lock(ConditionObject* self, PyObject* lock) {
  const ModuleState& state = module_state(Py_TYPE(self));
  self->kind = Py_TYPE(lock) == state.rlock ? Kind::rlock : Py_TYPE(lock) == state.lock ? Kind::lock : Kind::foreign;
  if (self->kind == Kind::foreign && (!has(lock, "acquire") || !has(lock, "release"))) {
    PyErr_Format(PyExc_AttributeError, "a condition needs a lock with acquire() and release(), not %.100s", Py_TYPE(lock)->tp_name);
    return false;
  }
  Py_XSETREF(self->lock, Py_NewRef(lock));
  return true;
}

PyObject* make_condition(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  PyObject* const lock = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(module_state(type).rlock));
  if (lock == nullptr || !set_lock(condition_of(self), lock)) {
    Py_XDECREF(lock);
    Py_DECREF(self);
    return nullptr;
  }
  Py_DECREF(lock);
  return self;
}

int init_condition(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"lock", nullptr};
  PyObject* lock = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Condition", const_cast<char**>(names), &lock)) return -1;
  ConditionObject* const self = condition_of(object);
  // Others may be waiting for the lock below, to which they have no reference of their own.
  if (self->waiting.load(std::memory_order_relaxed) != 0 || self->set_up.exchange(true, std::memory_order_relaxed)) {
    PyErr_SetString(PyExc_RuntimeError, "this condition is in use: __init__ cannot be called again; make a new one");
    return -1;
  }
  return lock == Py_None || set_lock(self, lock) ? 0 : -1;
}

void condition_dealloc(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_TRASHCAN_BEGIN(object, condition_dealloc)  // the lock below may be a condition, over a condition, and so on
  if (condition_of(object)->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  Py_CLEAR(condition_of(object)->lock);
  type->tp_free(object);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

// Finalizers may still call methods: so not null.
int condition_clear(PyObject* object) {
  condition_of(object)->kind = Kind::foreign;
  Py_XSETREF(condition_of(object)->lock, Py_NewRef(Py_None));
  return 0;
}

int condition_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(condition_of(object)->lock);
  return 0;
}

PyDoc_STRVAR(wait_doc,
             "wait($self, /, timeout=None)\n--\n\n"
             "Let go of the lock, wait to be notified, and take the lock again. Return True, or False if the timeout came first.\n\n"
             "RuntimeError if the lock is not held. timeout is in seconds, and limits the wait for the notification only: the lock is held\n"
             "again in every case, also when a signal handler raises (Ctrl-C) in the main thread. An RLock is let go of altogether. Look\n"
             "again at what you waited for: another thread may have been quicker (wait_for() does).");
PyDoc_STRVAR(wait_for_doc,
             "wait_for($self, /, predicate, timeout=None)\n--\n\n"
             "Wait until predicate() is true, and return its last value; that is a false one if the timeout came first.\n\n"
             "predicate is called with the lock held; what it raises is passed on. RuntimeError if the lock is not held.");
PyDoc_STRVAR(notify_doc,
             "notify($self, /, n=1)\n--\n\n"
             "Wake the n threads that have waited longest, or all if they are fewer. RuntimeError if the lock is not held.\n\n"
             "They go on when they get the lock. Nothing happens if nobody waits: notifications are not kept.");
PyDoc_STRVAR(notify_all_doc,
             "notify_all($self, /)\n--\n\nWake all threads that wait. RuntimeError if the lock is not held.");
PyDoc_STRVAR(condition_doc,
             "Condition(lock=None)\n--\n\n"
             "A condition variable whose notifications go to the longest waiter first, with the interface of threading.Condition.\n\n"
             "lock is a Lock or an RLock, of fairlock or of threading, or anything else with acquire() and release(); without one, a new\n"
             "RLock. TypeError if it is something else.");

PyMethodDef condition_methods[] = {
    {"acquire", method(&condition_acquire), METH_VARARGS | METH_KEYWORDS, "acquire($self, /, *args, **kwargs)\n--\n\nAcquire the lock of the condition, with the arguments that it takes."},
    {"release", &condition_release, METH_NOARGS, "release($self, /)\n--\n\nRelease the lock of the condition."},
    {"locked", &condition_locked, METH_NOARGS, "locked($self, /)\n--\n\nReturn whether the lock of the condition is held, just now."},
    {"__enter__", &condition_enter, METH_NOARGS, enter_doc},
    {"__exit__", &condition_exit, METH_VARARGS, exit_doc},
    {"wait", method(&condition_wait), METH_VARARGS | METH_KEYWORDS, wait_doc},
    {"wait_for", method(&condition_wait_for), METH_VARARGS | METH_KEYWORDS, wait_for_doc},
    {"notify", method(&condition_notify), METH_VARARGS | METH_KEYWORDS, notify_doc},
    {"notify_all", &condition_notify_all, METH_NOARGS, notify_all_doc},
    {"notifyAll", &condition_notify_all_old, METH_NOARGS, "notifyAll($self, /)\n--\n\nDeprecated: use notify_all()."},
    {"_is_owned", &condition_is_owned, METH_NOARGS, nullptr},
    {"_release_save", &condition_release_save, METH_NOARGS, nullptr},
    {"_acquire_restore", &condition_acquire_restore, METH_O, nullptr},
    {"_recursion_count", &condition_recursion_count, METH_NOARGS, nullptr},
    {"_at_fork_reinit", &condition_at_fork_reinit, METH_NOARGS, nullptr},
    {"__reduce__", &refuse_to_pickle, METH_NOARGS, nullptr},
    {},
};

PyGetSetDef condition_getters[] = {
    {"_lock", &get_lock, nullptr, "The lock of the condition.", nullptr},
    {"waiting", &get_waiting_threads, nullptr, "How many threads wait to be notified, just now.", nullptr},
    {},
};

PyMemberDef condition_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ConditionObject, weak_references), READONLY, nullptr},
    {},
};

PyType_Slot condition_slots[] = {
    {Py_tp_doc, const_cast<char*>(condition_doc)},
    {Py_tp_new, reinterpret_cast<void*>(&make_condition)},
    {Py_tp_init, reinterpret_cast<void*>(&init_condition)},
    {Py_tp_dealloc, reinterpret_cast<void*>(&condition_dealloc)},
    {Py_tp_traverse, reinterpret_cast<void*>(&condition_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(&condition_clear)},
    {Py_tp_repr, reinterpret_cast<void*>(&condition_repr)},
    {Py_tp_methods, condition_methods},
    {Py_tp_getset, condition_getters},
    {Py_tp_members, condition_members},
    {0, nullptr},
};

}  // namespace

PyType_Spec condition_spec{"fairlock.Condition", sizeof(ConditionObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, condition_slots};

void mend_condition(PyObject* object) {
  ConditionObject* const self = condition_of(object);
  new (&self->line) WaiterLine<DefaultPlatform>{};
  self->waiting.store(0, std::memory_order_relaxed);
}

}  // namespace fairlock::python
