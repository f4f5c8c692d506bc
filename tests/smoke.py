# SPDX-License-Identifier: Apache-2.0
"""The test of every wheel, in an environment that contains only the wheel: python tests/smoke.py"""

from __future__ import annotations

import sys
import threading

gil_enabled = getattr(sys, "_is_gil_enabled", lambda: True)
before, gil = set(sys.modules), gil_enabled()
import fairlock  # noqa: E402

others = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names - {"fairlock"}
assert not others, f"import fairlock also imports {others}"
assert "fairlock_lab._native" not in sys.modules, "import fairlock also imports the lab"
assert gil_enabled() == gil, "import fairlock enabled the GIL"


def count_under(lock: fairlock.Lock | fairlock.RLock | fairlock.Semaphore) -> int:
    total = 0

    def work() -> None:
        nonlocal total
        for _ in range(2000):
            with lock:
                total += 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), f"a thread hangs: {lock!r}, {fairlock._locks.waits()}"
    return total


for lock in (
    fairlock.Lock(),
    fairlock.Lock("twa"),
    fairlock.RLock(),
    fairlock.Semaphore(),
    fairlock.Semaphore(1, "twa-semaphore"),
    fairlock.BoundedSemaphore(),
):
    assert count_under(lock) == 8000, lock
    assert lock.acquire(timeout=1)
    if not isinstance(lock, fairlock.RLock):
        assert not lock.acquire(timeout=0.01)
    lock.release()

condition = fairlock.Condition()
with condition:
    assert not condition.wait(0.01)

event, barrier = fairlock.Event(), fairlock.Barrier(2)
threading.Thread(target=lambda: (event.wait(60), barrier.wait(60)), daemon=True).start()
event.set()
barrier.wait(60)
print(f"fairlock {fairlock.__version__} works on Python {sys.version}")
