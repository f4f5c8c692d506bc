# SPDX-License-Identifier: Apache-2.0
"""After install(), threading creates fairlock's types, and the standard library works with them."""

from __future__ import annotations

import pkgutil
import queue
import threading
from collections.abc import Iterator
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest
from conftest import Python

import fairlock

NAMES = ["Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition", "Event", "Barrier"]

# Tests of details in which fairlock's types differ from threading's on purpose.
EXCLUDED = {
    "test.test_threading": [
        "MiscTestCase.test__all__",  # expects types of the module threading
        "ThreadTests.test_disallow_instantiation",  # up to 3.12, expects that type(Lock()) cannot be called
        "ThreadTests.test_lock_no_subclass",  # from 3.13, expects that Lock has no subclasses
        "CRLockTests.test_signature",  # from 3.14, expects a warning about any argument of RLock
    ]
}
SUITES = [
    "test.test_queue",
    "test.test_sched",
    "test.test_threading",
    "test.test_threading_local",
    "test.test_logging",
    "test.test_concurrent_futures.test_thread_pool",  # 3.12 and newer
    "test.test_concurrent_futures.ThreadPoolExecutorTest",  # 3.11
]


def is_installed(suite: str) -> bool:
    try:
        pkgutil.resolve_name(suite)
    except (ModuleNotFoundError, AttributeError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_suite_of_the_standard_library(suite: str, python: Python) -> None:
    if not is_installed(suite):
        pytest.skip(f"this Python was installed without {suite}")
    runner = Path(__file__).with_name("suite_under_install.py")
    done = python(runner, suite, *EXCLUDED.get(suite, []), timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def installed() -> Iterator[None]:
    fairlock.install()
    try:
        yield
    finally:
        fairlock.uninstall()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", NAMES)
def test_install_replaces_the_types_of_threading(name: str) -> None:
    assert getattr(threading, name) is getattr(fairlock, name)


def test_uninstall_restores_the_original_types() -> None:
    before = dict(vars(threading))
    fairlock.install()
    fairlock.install()
    assert vars(threading) != before
    fairlock.uninstall()
    assert vars(threading) == before
    fairlock.uninstall()
    assert vars(threading) == before


def test_uninstall_keeps_a_type_that_other_code_put_there(monkeypatch: pytest.MonkeyPatch) -> None:
    original = threading.Lock
    fairlock.install()
    with monkeypatch.context() as other_code:
        other_code.setattr(threading, "Lock", replacement := object())
        fairlock.uninstall()
        assert threading.Lock is replacement
    assert threading.Lock is fairlock.Lock  # the other code put it back
    fairlock.uninstall()
    assert threading.Lock is original


def test_an_rlock_factory_that_was_imported_early_creates_fairlocks_type() -> None:
    early = threading.RLock
    fairlock.install()
    try:
        assert type(early()) is fairlock.RLock
    finally:
        fairlock.uninstall()
    assert type(early()) is not fairlock.RLock


def test_existing_locks_keep_their_type_and_work() -> None:
    old, old_queue, old_event = threading.Lock(), queue.Queue[int](), threading.Event()
    fairlock.install()
    try:
        new = threading.Lock()
        assert type(old) is not fairlock.Lock
        old_condition = threading.Condition(old)
        helper = threading.Thread(target=lambda: (old_queue.put(1), old_event.set()))
        helper.start()
        assert old_queue.get(timeout=30) == 1
        assert old_event.wait(30)
        helper.join()
        with old_condition:
            assert not old_condition.wait(0.01)
    finally:
        fairlock.uninstall()
    with new:
        assert type(new) is fairlock.Lock
        assert new.locked()


@pytest.mark.usefixtures("installed")
def test_thread_pool() -> None:
    with ThreadPool(4) as pool:
        assert pool.map(str, range(100)) == [str(i) for i in range(100)]
        assert sorted(pool.imap_unordered(abs, range(-50, 0))) == list(range(1, 51))


PROCESS_POOL = """
import multiprocessing, sys, threading
from concurrent.futures import ProcessPoolExecutor
import fairlock
fairlock.install()  # also in spawned processes, which import this file

def kind(_):
    lock = threading.Lock()
    with lock:
        return type(lock) is fairlock.Lock

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        assert pool.map(kind, range(20)) == [True] * 20
        assert all(pool.imap_unordered(kind, range(20)))
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        assert list(executor.map(kind, range(20))) == [True] * 20
    queue = context.Queue()
    process = context.Process(target=queue.put, args=(7,))
    process.start()
    assert queue.get(timeout=30) == 7
    process.join(30)
    assert process.exitcode == 0
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_process_pool(method: str, python: Python, tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(PROCESS_POOL)
    done = python(script, method)
    assert done.returncode == 0, done.stderr
