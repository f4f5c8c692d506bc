# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests of locks, unchanged, on fairlock's types."""

from __future__ import annotations

import unittest

import pytest

import fairlock

lock_tests = pytest.importorskip("test.lock_tests", reason="this Python was installed without its tests")


class LockTests(lock_tests.LockTests):  # type: ignore[misc]
    locktype = staticmethod(fairlock.Lock)


class TwaLockTests(lock_tests.LockTests):  # type: ignore[misc]
    locktype = staticmethod(lambda: fairlock.Lock("twa"))


class RLockTests(lock_tests.RLockTests):  # type: ignore[misc]
    locktype = staticmethod(fairlock.RLock)


class ConditionAsRLockTests(lock_tests.RLockTests):  # type: ignore[misc]
    locktype = staticmethod(fairlock.Condition)

    @unittest.skip("a condition has a repr of its own; test_threading skips this test too")
    def test_repr(self) -> None: ...

    test_locked_repr = test_repr_count = test_repr


class ConditionTests(lock_tests.ConditionTests):  # type: ignore[misc]
    condtype = staticmethod(fairlock.Condition)


class EventTests(lock_tests.EventTests):  # type: ignore[misc]
    eventtype = staticmethod(fairlock.Event)


class SemaphoreTests(lock_tests.SemaphoreTests):  # type: ignore[misc]
    semtype = staticmethod(fairlock.Semaphore)


class TwaSemaphoreTests(lock_tests.SemaphoreTests):  # type: ignore[misc]
    semtype = staticmethod(lambda value=1: fairlock.Semaphore(value, "twa-semaphore"))


class BoundedSemaphoreTests(lock_tests.BoundedSemaphoreTests):  # type: ignore[misc]
    semtype = staticmethod(fairlock.BoundedSemaphore)


class BarrierTests(lock_tests.BarrierTests):  # type: ignore[misc]
    barriertype = staticmethod(fairlock.Barrier)
