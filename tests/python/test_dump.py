# SPDX-License-Identifier: Apache-2.0
"""dump(), contended() and deadlocks() report the threads that wait, and the threads that they wait for."""

from __future__ import annotations

import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from conftest import Python

import fairlock


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "the condition does not hold after 30 s"
        time.sleep(0.001)


@contextmanager
def running(*targets: Callable[[], object]) -> Iterator[list[threading.Thread]]:
    """Run the targets in threads, and join them after the block. If a test fails, they may wait: they are daemons."""
    threads = [threading.Thread(target=target, name=f"worker {i}", daemon=True) for i, target in enumerate(targets)]
    for thread in threads:
        thread.start()
    yield threads
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def dump_text(all_threads: bool = False) -> str:
    text = io.StringIO()
    fairlock.dump(text, all_threads=all_threads)
    return text.getvalue()


def test_no_thread_waits() -> None:
    assert fairlock.contended() == []
    assert fairlock.deadlocks() == []
    assert dump_text() == "fairlock: no thread waits for a lock\n"


@pytest.mark.parametrize("kind", [fairlock.Lock, fairlock.RLock, lambda: fairlock.Lock("twa")])
def test_contended_lock(kind: Callable[[], fairlock.Lock | fairlock.RLock]) -> None:
    lock = kind()

    def take_and_release() -> None:
        with lock:
            pass

    lock.acquire()
    with running(take_and_release, take_and_release) as threads:
        until(lambda: lock.waiters == 2)
        (contention,) = fairlock.contended()
        text = dump_text()
        cycles = fairlock.deadlocks()
        lock.release()
    assert contention.lock is lock
    assert contention.owner == threading.get_ident()
    assert set(contention.waiters) == {thread.ident for thread in threads}
    assert all(seconds >= 0 for seconds in contention.waiters.values())
    assert list(contention.waiters.values()) == sorted(contention.waiters.values(), reverse=True)
    assert cycles == []
    assert "deadlock" not in text
    assert f"at {id(lock):#x} ({lock.algorithm}), held by MainThread [{threading.get_ident()}]" in text
    for thread in threads:
        assert f"{thread.name} [{thread.ident}] has waited" in text
        assert f"stack of {thread.name}" in text
    assert text.count("in take_and_release") == 2
    assert "stack of MainThread" in text
    assert "contention.py" not in text  # frames of fairlock are left out


def test_semaphores_and_conditions_have_no_owner() -> None:
    semaphore, condition, event = fairlock.Semaphore(0), fairlock.Condition(), fairlock.Event()

    def wait() -> None:
        with condition:
            condition.wait()

    with running(semaphore.acquire, wait, event.wait):
        until(lambda: len(fairlock.contended()) == 3)
        contentions, text = fairlock.contended(), dump_text()
        semaphore.release()
        event.set()
        with condition:
            condition.notify()
    assert all(contention.owner is None for contention in contentions)
    assert {id(semaphore), id(condition)} < {id(contention.lock) for contention in contentions}
    assert f"fairlock.Condition at {id(condition):#x} over fairlock.RLock" in text
    assert "held by" not in text


def test_all_threads() -> None:
    gate = threading.Event()

    def idle_in_this_function() -> None:
        gate.wait()

    with running(idle_in_this_function):
        waiting_only, all_threads = dump_text(), dump_text(all_threads=True)
        gate.set()
    assert "idle_in_this_function" not in waiting_only
    assert "idle_in_this_function" in all_threads
    assert "test_all_threads" in all_threads


@pytest.mark.parametrize("length", [2, 3, 5])
def test_deadlock(length: int) -> None:
    locks = [fairlock.Lock() for _ in range(length)]
    all_hold_one = threading.Barrier(length)

    def worker(i: int) -> Callable[[], None]:
        def hold_and_wait() -> None:
            next_lock = locks[(i + 1) % length]
            locks[i].acquire()
            all_hold_one.wait(30)
            with next_lock:
                pass

        return hold_and_wait

    with running(*(worker(i) for i in range(length))) as threads:
        until(lambda: len(fairlock.deadlocks()) == 1)
        (cycle,) = fairlock.deadlocks()
        text = dump_text()
        for lock in locks:
            lock.release()
    start = next(i for i, link in enumerate(cycle) if link.thread == threads[0].ident)
    chain = [*cycle[start:], *cycle[:start]]
    assert [link.thread for link in chain] == [thread.ident for thread in threads]
    assert all(link.lock is locks[(i + 1) % length] for i, link in enumerate(chain))
    assert text.count("deadlock:") == 1
    for i, thread in enumerate(threads):
        holder = threads[(i + 1) % length]
        lock = f"fairlock.Lock at {id(locks[(i + 1) % length]):#x} (fair)"
        assert f"  {thread.name} [{thread.ident}] waits for {lock}, held by {holder.name} [{holder.ident}]\n" in text
    assert fairlock.deadlocks() == []


def test_a_thread_that_waits_for_a_deadlocked_thread_is_not_part_of_the_cycle() -> None:
    lock = fairlock.Lock()

    def twice() -> None:
        lock.acquire()
        lock.acquire()
        lock.release()

    def take_and_release() -> None:
        with lock:
            pass

    with running(twice) as (stuck,):
        until(lambda: lock.waiters == 1)
        with running(take_and_release):
            until(lambda: lock.waiters == 2 and len(fairlock.deadlocks()) == 1)
            (cycle,) = fairlock.deadlocks()
            text = dump_text()
            lock.release()
    assert [link.thread for link in cycle] == [stuck.ident]
    assert "unless another thread releases one of these Locks" in text


def test_an_owner_that_has_ended() -> None:
    lock = fairlock.Lock()
    with running(lock.acquire):
        pass
    owner = lock.owner

    def take_and_release() -> None:
        with lock:
            pass

    with running(take_and_release) as (thread,):
        until(lambda: lock.waiters == 1)
        text = dump_text()
        lock.release()
    if owner != thread.ident:  # Python may reuse the ident
        assert f"held by a thread that has ended [{owner}]" in text


def test_dump_from_a_signal_handler() -> None:
    lock, text = fairlock.Lock(), io.StringIO()
    lock.acquire()

    def handler(*_: object) -> None:
        fairlock.dump(text)
        lock.release()

    before = signal.signal(signal.SIGUSR1, handler)
    try:

        def interrupt() -> None:
            until(lambda: lock.waiters == 1)
            os.kill(os.getpid(), signal.SIGUSR1)

        with running(interrupt):
            assert lock.acquire(timeout=30)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert "deadlock:\n  MainThread" in text.getvalue()
    assert "in handler" in text.getvalue()


def test_no_deadlock_is_reported_while_threads_run() -> None:
    """Threads that acquire locks in one order never deadlock, so no report may say that they do."""
    locks = [fairlock.Lock(), fairlock.RLock(), fairlock.Lock("twa")]
    stop = threading.Event()

    def deep(depth: int, i: int) -> None:
        if depth:
            deep(depth - 1, i)
            return
        with locks[i], locks[(i + 1) % 3] if i < 2 else fairlock.Lock():
            pass

    def work() -> None:
        i = 0
        while not stop.is_set():
            deep(i % 40, i % 3)
            i += 1

    end = time.monotonic() + 3
    with running(*[work] * 4):
        try:
            while time.monotonic() < end:
                assert fairlock.deadlocks() == []
                assert "\ndeadlock:\n" not in dump_text(all_threads=True)
                assert all(contention.waiters for contention in fairlock.contended())
        finally:
            stop.set()


def test_writes_to_stderr(python: Python) -> None:
    done = python("-c", "import fairlock; fairlock.dump()")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "fairlock: no thread waits for a lock\n")
