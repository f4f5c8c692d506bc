# SPDX-License-Identifier: Apache-2.0
"""A signal handler runs without a second signal, whenever the signal arrives and whichever thread receives it.

Each test runs in a process of its own, whose main thread waits.
"""

from __future__ import annotations

import sys

import pytest
from support import STRICT_LOCKS, STRICT_SEMAPHORES, run_python

CHILD = """
import operator, os, signal, sys, threading, time
import fairlock
from fairlock import Barrier, Event  # now: the import of their module would swallow an exception of the handler
from fairlock._locks import waits

MISSED = 10  # seconds: if the handler has not run by then, the signal was missed, however busy the machine is

class Handled(Exception): pass

main = threading.main_thread().ident

def eventually(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.0005)

def main_waits():
    return any(thread == main for thread, _, _ in waits())

def start(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread

def hold(lock):
    '''Let another thread hold the lock. Return a function that makes that thread release it.'''
    held, end = threading.Event(), threading.Event()
    def run():
        lock.acquire()
        held.set()
        end.wait()
        lock.release()
    holder = start(run)
    held.wait()
    def release():
        end.set()
        holder.join(20)
    return release

def acquiring(lock, *args):
    hold(lock)
    return lambda: lock.acquire(*args)

def notification(lock):
    condition = fairlock.Condition(lock)
    condition.acquire()
    return condition.wait

def entering(capacitor):
    hold(capacitor)
    return capacitor.acquire
"""

# How the main thread waits: each expression returns a function that waits without a limit.
WAITS = {
    "Lock": "acquiring(fairlock.Lock())",
    "Lock, timeout": "acquiring(fairlock.Lock(), True, 1000)",
    "Lock, park": "acquiring(fairlock.Lock(waiting='park'))",
    "RLock": "acquiring(fairlock.RLock())",
    **{name: f"acquiring(fairlock.Lock({name!r}))" for name in STRICT_LOCKS},
    "twa, timeout": "acquiring(fairlock.Lock('twa'), True, 1000)",
    "Semaphore": "acquiring(fairlock.Semaphore())",
    "BoundedSemaphore": "acquiring(fairlock.BoundedSemaphore())",
    **{name: f"acquiring(fairlock.Semaphore(1, {name!r}))" for name in STRICT_SEMAPHORES},
    "Condition": "notification(fairlock.Lock())",
    "Condition, RLock": "notification(fairlock.RLock())",
    "Condition, threading.Lock": "notification(threading.Lock())",
    "Event": "lambda: fairlock.Event().wait()",
    "Barrier": "lambda: fairlock.Barrier(2).wait()",
    "Capacitor": "entering(fairlock.Capacitor(threading.Lock(), platoon=1))",
}


@pytest.mark.parametrize("wait", WAITS)
def test_signal_at_the_start_of_a_wait(wait: str) -> None:
    """The signal arrives 1 µs to 5 ms after the call: while the thread enters, looks, falls asleep, and sleeps."""
    run_python(
        CHILD
        + f"""
def handle(*_):
    raise Handled

signal.signal(signal.SIGALRM, handle)
wait = {WAITS[wait]}
delay = 1e-6
while delay < 0.005:
    for _ in range(20):
        began = time.monotonic()
        try:
            signal.setitimer(signal.ITIMER_REAL, delay, MISSED)
            wait()
            assert False, "the wait ended without the handler"
        except Handled:
            signal.setitimer(signal.ITIMER_REAL, 0)
        assert time.monotonic() - began < MISSED, f"the signal after {{delay * 1e6:.0f}} µs was missed"
    delay *= 1.25
"""
    )


@pytest.mark.parametrize("wait", WAITS)
def test_signal_that_another_thread_receives(wait: str) -> None:
    """Such a signal does not end the sleep of the main thread, but its handler runs anyway."""
    run_python(
        CHILD
        + f"""
def handle(*_):
    raise Handled

signal.signal(signal.SIGUSR1, handle)
signal.signal(signal.SIGALRM, lambda *_: None)
wait = {WAITS[wait]}
for _ in range(5):
    def receive():
        eventually(main_waits)
        time.sleep(0.01)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
    began = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, MISSED)
    receiver = start(receive)
    try:
        wait()
        assert False, "the wait ended without the handler"
    except Handled:
        pass
    assert time.monotonic() - began < MISSED, "the signal was missed until the next one"
    receiver.join()
"""
    )


@pytest.mark.parametrize("lock", ["Lock()", "RLock()", "Lock('twa')", "Lock(waiting='yield')"])
def test_handler_runs_while_a_condition_takes_its_lock_back(lock: str) -> None:
    """The handler may take that lock. If it raises, wait() raises as soon as it has the lock."""
    run_python(
        CHILD
        + f"""
lock = fairlock.{lock}
condition = fairlock.Condition(lock)
handled = []

def handle(number, _):
    handled.append(number)
    if number == signal.SIGUSR2 and {"yield" not in lock}:
        with lock:
            handled.append("inside")
    elif number != signal.SIGUSR1:
        raise Handled(number)

for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGINT):
    signal.signal(number, handle)

def disturb():
    eventually(lambda: condition.waiters == 1)
    with condition:
        condition.notify()
        eventually(lambda: lock.waiters == 1)
        for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGINT):
            signal.pthread_kill(main, number)
            eventually(lambda: number in handled)
        signal.pthread_kill(main, signal.SIGUSR2)
        eventually(lambda: signal.SIGUSR2 in handled)
        assert lock.owner == threading.get_ident()

disturber = start(disturb)
with condition:
    try:
        condition.wait()
        assert False, "wait() did not raise"
    except Handled as error:
        assert lock.owner == main
        seen = [error]
        while seen[-1].__context__ is not None:
            seen.append(seen[-1].__context__)
        expected = [signal.SIGINT, signal.SIGALRM]
        assert [error.args[0] for error in seen][-2:] == expected, seen
disturber.join()
assert ("inside" in handled) == {"yield" not in lock}
assert not lock.locked()
"""
    )


def test_exceptions_of_several_handlers_are_chained() -> None:
    """A handler's own context stays, and an exception that is raised twice does not become its own context."""
    run_python(
        CHILD
        + """
first, second = Handled("first"), Handled("second")

def raise_in_except():
    try:
        raise KeyError("inner")
    except KeyError:
        raise second

def contexts_after(*handlers):
    condition = fairlock.Condition(fairlock.Lock())
    rest, handled = iter(handlers), []
    def handle(*_):
        handled.append(None)
        next(rest)()
    signal.signal(signal.SIGUSR1, handle)
    def disturb():
        eventually(lambda: condition.waiters == 1)
        with condition:
            condition.notify()
            eventually(lambda: condition._lock.waiters == 1)
            for number in range(len(handlers)):
                signal.pthread_kill(main, signal.SIGUSR1)
                eventually(lambda: len(handled) > number)
    disturber = start(disturb)
    with condition:
        try:
            condition.wait()
            assert False, "wait() did not raise"
        except Handled as error:
            contexts = [error]
    disturber.join()
    while contexts[-1].__context__ is not None:
        contexts.append(contexts[-1].__context__)
        assert len(contexts) < 10, contexts
    return [context.args[0] for context in contexts]

def raise_first(): raise first
def raise_second(): raise second

assert contexts_after(raise_first, raise_in_except) == ["second", "inner", "first"]
first.__context__ = second.__context__ = None
assert contexts_after(raise_first, raise_second, raise_first) == ["first"]
"""
    )


def test_handler_runs_while_an_rlock_is_restored() -> None:
    """The lock is held as often as before, even if the handler raises, as under a threading.Condition."""
    run_python(
        CHILD
        + """
lock = fairlock.RLock()
handled = []

def handle(*_):
    handled.append(None)
    raise Handled

signal.signal(signal.SIGUSR1, handle)
with lock, lock:
    saved = lock._release_save()
    release = hold(lock)
    def disturb():
        eventually(lambda: lock.waiters == 1)
        signal.pthread_kill(main, signal.SIGUSR1)
        eventually(lambda: handled)
        release()
    disturber = start(disturb)
    try:
        lock._acquire_restore(saved)
        assert False, "not interrupted"
    except Handled:
        pass
    assert lock._recursion_count() == 2
    disturber.join()
assert not lock.locked()
"""
    )


STRICT = [f"Lock({name!r})" for name in STRICT_LOCKS] + [f"Semaphore(1, {name!r})" for name in STRICT_SEMAPHORES]


@pytest.mark.parametrize("lock", ["Lock()", "RLock()", "Lock(waiting='park')", "Semaphore()", *STRICT])
def test_main_thread_keeps_its_place_in_a_long_wait(lock: str) -> None:
    """The main thread checks for signals without leaving the line, even after a handler that executed no bytecode."""
    run_python(
        CHILD
        + f"""
lock = fairlock.{lock}
order = []

def take(name):
    assert lock.acquire(timeout=20)
    order.append(name)
    lock.release()

release = hold(lock)
began = time.monotonic()
assert not lock.acquire(timeout=0.07)
assert time.monotonic() - began >= 0.07

signal.signal(signal.SIGUSR1, operator.is_)  # called with two arguments
def line_up_behind_and_release():
    eventually(main_waits)
    signal.pthread_kill(main, signal.SIGUSR1)
    time.sleep(0.05)
    behind = start(lambda: take("behind"))
    eventually(lambda: lock.waiters == 2)
    time.sleep(0.1)
    release()
    behind.join(20)
other = start(line_up_behind_and_release)
take("main")
other.join(20)
assert order == ["main", "behind"], order
"""
    )


@pytest.mark.skipif(sys.platform != "linux", reason="counts context switches in /proc")
@pytest.mark.parametrize("wait", WAITS)
def test_only_the_main_thread_wakes_up_to_look_for_signals(wait: str) -> None:
    """Every other thread sleeps, and the kernel never switches to it."""
    run_python(
        CHILD
        + f"""
def run():
    global sleeper
    wait = {WAITS[wait]}
    sleeper = threading.get_native_id()
    wait()

def switches():
    with open(f"/proc/self/task/{{sleeper}}/status") as status:
        return next(line for line in status if line.startswith("voluntary_ctxt_switches"))

def undisturbed():
    before = switches()
    time.sleep(0.15)
    return switches() == before

thread = start(run)
eventually(lambda: any(waiter == thread.ident for waiter, _, _ in waits()))
eventually(undisturbed)
"""
    )


# Since 3.13, if a thread other than the main thread forks, a signal in the child sets the flag of the former main
# thread, which is gone.
missed_by_python = pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python misses the signal")


@pytest.mark.parametrize("forks", ["main", pytest.param("other", marks=missed_by_python)])
def test_child_of_a_fork(forks: str) -> None:
    """In the child, the thread that forked is the main thread, and handles the signals."""
    run_python(
        CHILD
        + f"""
import warnings
warnings.simplefilter("ignore")  # about forks with threads

def handle(*_):
    raise Handled

signal.signal(signal.SIGUSR1, handle)

def run():
    global main
    child = os.fork()
    if child != 0:
        status.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return
    try:
        main = threading.get_ident()
        signal.alarm(MISSED)  # ends the child
        for make in (fairlock.Lock, lambda: fairlock.Lock("twa"), fairlock.Semaphore):
            wait = acquiring(make())
            def receive():
                eventually(main_waits)
                signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
            start(receive)
            try:
                wait()
            except Handled:
                continue
            os._exit(1)
        os._exit(0)
    finally:
        os._exit(2)

status = []
run() if {forks == "main"} else start(run).join()
assert status == [0], status
"""
    )
