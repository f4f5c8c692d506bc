# SPDX-License-Identifier: Apache-2.0
"""Each interpreter of a process has types of its own, and does not see the waits of another interpreter."""

from __future__ import annotations

import sys

import pytest
from support import run_python

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="before 3.12, only one interpreter can import the module"
)

CHILD = """
import signal, sys, threading, time
try:
    import _interpreters
except ImportError:
    import _xxsubinterpreters as _interpreters

def run(interpreter, code):
    failed = _interpreters.run_string(interpreter, code)  # 3.12 raises
    if failed is not None:
        raise SystemExit(f"{failed}")

def create(own_gil):
    if sys.version_info < (3, 13):
        return _interpreters.create(isolated=own_gil)
    return _interpreters.create("isolated" if own_gil else "legacy")

def run_in_new_interpreter(own_gil, code):
    '''One thread does all of this: an interpreter must shut down threading in the thread that imported it.'''
    interpreter = create(own_gil)
    run(interpreter, code)
    _interpreters.destroy(interpreter)

USE = '''
import threading, time
import fairlock
makers = [fairlock.Lock, fairlock.RLock, fairlock.Semaphore]
for make in [*makers, lambda: fairlock.Lock("twa"), lambda: fairlock.Lock("hapax-vw")]:
    lock, inside, count = make(), [], [0]
    def use():
        for _ in range(300):
            with lock:
                assert not inside
                inside.append(None)
                count[0] += 1
                inside.pop()
    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert count == [900] and lock.waiters == 0
    lock.acquire()
    assert type(lock).__name__ == "RLock" or not lock.acquire(timeout=0.002)
condition = fairlock.Condition()
with condition:
    assert not condition.wait(0.002)
assert not fairlock.Event().wait(0.002)
'''
"""
both_kinds = pytest.mark.parametrize("own_gil", [False, True])


@both_kinds
def test_import_use_and_shutdown(own_gil: bool) -> None:
    run_python(
        CHILD
        + f"""
for imported in (False, True):
    for _ in range(3):
        run_in_new_interpreter({own_gil}, USE)
    import fairlock
exec(USE)
"""
    )


@both_kinds
def test_several_interpreters_at_once(own_gil: bool) -> None:
    run_python(
        CHILD
        + f"""
threads = [threading.Thread(target=run_in_new_interpreter, args=({own_gil}, USE)) for _ in range(3)]
for thread in threads: thread.start()
exec(USE)
for thread in threads: thread.join()
exec(USE)
"""
    )


@both_kinds
def test_waits_of_another_interpreter_are_hidden(own_gil: bool) -> None:
    """An object of one interpreter must never reach another: both would crash."""
    run_python(
        CHILD
        + f"""
import fairlock
from fairlock._locks import waits
lock = fairlock.Lock()
lock.acquire()
waiter = threading.Thread(target=lock.acquire, daemon=True)
waiter.start()
while not lock.waiters: time.sleep(0.001)
run_in_new_interpreter({own_gil}, '''
from fairlock._locks import waits
assert waits() == [], waits()
''')
assert [object_ for _, object_, _ in waits()] == [lock]

code = '''
import fairlock
lock = fairlock.Lock()
lock.acquire()
lock.acquire(timeout=0.2)
'''
other = threading.Thread(target=run_in_new_interpreter, args=({own_gil}, code), daemon=True)
other.start()
end = time.monotonic() + 0.15
while time.monotonic() < end:
    assert [object_ for _, object_, _ in waits()] == [lock]
other.join()
lock.release()
waiter.join()
"""
    )


@both_kinds
def test_ctrl_c_still_reaches_the_main_thread(own_gil: bool) -> None:
    """This holds even if another thread has imported the module first, in an interpreter of its own."""
    run_python(
        CHILD
        + f"""
import fairlock
thread = threading.Thread(target=run_in_new_interpreter, args=({own_gil}, "import fairlock; fairlock.Lock().acquire()"))
thread.start()
thread.join()
main = threading.get_ident()
lock = fairlock.Lock()
lock.acquire()
def interrupt():
    while not lock.waiters: time.sleep(0.001)
    time.sleep(0.01)
    signal.pthread_kill(main, signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    lock.acquire(timeout=5)
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    assert lock.statistics().longest < 4
"""
    )


def test_the_import_does_not_enable_the_gil() -> None:
    run_python(
        """
import sys
before = getattr(sys, "_is_gil_enabled", lambda: True)()
import fairlock
assert getattr(sys, "_is_gil_enabled", lambda: True)() == before
"""
    )
