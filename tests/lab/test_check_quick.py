# SPDX-License-Identifier: Apache-2.0
"""Every lock holds at small bounds. `make test-all` explores the promised bounds (test_check.py)."""

from __future__ import annotations

import pytest

from fairlock_lab import _native

MAX_THREADS = {entry["name"]: entry.get("max_threads") for entry in _native.locks() + _native.semaphores()}

TOO_MANY_STATES = {"fair/adapts-quota-0", "fair-semaphore/adapts-quota-0"}  # at 2x2


@pytest.mark.parametrize("memory", ["sc", "weak"])
@pytest.mark.parametrize(("threads", "episodes"), [(2, 1), (2, 2), (3, 1)], ids=["2x1", "2x2", "3x1"])
def test_every_lock_holds_at_small_bounds(threads: int, episodes: int, memory: str) -> None:
    incomplete = set()
    for name, max_threads in MAX_THREADS.items():
        if max_threads is not None and threads > max_threads:
            continue
        result = _native.Check(name, "rounds", threads, episodes, 1, memory, max_states=300_000).run()
        assert result["property"] is None, name
        if not result["complete"]:
            incomplete.add(name)
    assert incomplete <= TOO_MANY_STATES
