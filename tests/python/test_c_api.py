# SPDX-License-Identifier: Apache-2.0
"""Extension modules acquire fairlock's locks: the example, built as its comment says."""

from __future__ import annotations

import importlib.util
import os
import sysconfig
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import processes
import pytest

import fairlock
from fairlock.paths import include_dir

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "extension" / "account.c"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    library = tmp_path_factory.mktemp("extension") / "account.so"
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{include_dir()}"]
    command = [os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", *includes]
    processes.run([*command, str(SOURCE), "-o", str(library)], check=True)
    spec = importlib.util.spec_from_file_location("account", library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "lock",
    [
        fairlock.Lock(),
        fairlock.Lock("twa"),
        fairlock.RLock(),
        fairlock.Semaphore(),
        fairlock.BoundedSemaphore(1, "twa-semaphore"),
    ],
    ids=lambda lock: f"{type(lock).__name__}-{lock.algorithm}",
)
def test_python_and_c_share_a_lock(account: ModuleType, lock: Any) -> None:
    before, seen, turns = account.balance(lock), [], 2000

    def in_python() -> None:
        for _ in range(turns):
            with lock:
                seen.append(len(seen))

    threads = [threading.Thread(target=account.deposit, args=(lock, turns)) for _ in range(3)]
    threads += [threading.Thread(target=in_python) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert account.balance(lock) == before + 3 * turns
    assert seen == list(range(2 * turns))
    assert lock.waiters == 0


def test_the_owner_of_an_rlock_acquires_it_again(account: ModuleType) -> None:
    lock = fairlock.RLock()
    with lock:
        account.deposit(lock, 1)
        account.balance(lock)
        assert lock._recursion_count() == 1
    assert not lock._is_owned()


def test_an_object_that_is_not_a_lock_is_refused(account: ModuleType) -> None:
    for wrong in (threading.Lock(), None, fairlock.Condition(), fairlock.Capacitor(fairlock.Lock())):
        with pytest.raises(TypeError, match="expected a"):
            account.deposit(wrong, 1)
        with pytest.raises(TypeError, match="expected a fairlock Lock"):
            account.balance(wrong)
