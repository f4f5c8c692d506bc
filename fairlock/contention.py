# SPDX-License-Identifier: Apache-2.0
"""``fairlock.dump()``: who waits for which lock, who holds it, and who waits for each other."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from dataclasses import dataclass
from types import FrameType
from typing import NamedTuple, TextIO

from fairlock._locks import Condition, Lock, RLock, Semaphore, waits


@dataclass(frozen=True)
class Contention:
    """A lock that threads wait for. Threads are idents, as in ``threading.get_ident()``."""

    lock: object
    owner: (
        int | None
    )  # None also of what nobody owns: semaphores and conditions. Idents of ended threads are used again
    waiters: dict[int, float]  # seconds that each has waited; the longest first


class Link(NamedTuple):
    """A thread of a deadlock, and the lock that it waits for; the next thread holds that."""

    thread: int
    lock: object


def contended() -> list[Contention]:
    """Return what threads wait for just now: locks, semaphores and conditions of fairlock."""
    found: dict[int, Contention] = {}
    for thread, lock, seconds in sorted(waits(), key=lambda wait: -wait[2]):
        contention = found.setdefault(id(lock), Contention(lock, _owner(lock), {}))
        contention.waiters.setdefault(thread, seconds)
    return list(found.values())


def deadlocks() -> list[list[Link]]:
    """Return the cycles of threads that wait for each other's locks; a thread that waits for its own is one too.

    A cycle is real, but not always final: a wait may have a timeout, and any thread may release a ``Lock``.
    """
    began = time.monotonic()
    before = _present_waits()
    owners = {thread: _owner(lock) for thread, (lock, _) in before.items()}
    after = _present_waits()
    elapsed = time.monotonic() - began
    # Looks at different moments could make up a cycle that never was. Who waits for the same thing now as then has done
    # nothing in between, so what it owned when we looked it owns still.
    stuck = {
        thread: lock
        for thread, (lock, seconds) in after.items()
        if seconds > elapsed and thread in before and before[thread][0] is lock
    }
    cycles = []
    while stuck:
        path: list[Link] = []
        thread: int | None = next(iter(stuck))
        while thread in stuck:
            path.append(Link(thread, stuck.pop(thread)))
            thread = owners[thread]
        threads = [link.thread for link in path]
        if thread in threads:  # else it ends in one who works, or in a cycle that we have
            cycles.append(path[threads.index(thread) :])
    return cycles


def dump(file: TextIO | None = None, *, all_threads: bool = False) -> None:
    """Write to ``file`` (``sys.stderr``) which locks are contended, who holds them, who waits how long, and deadlocks.

    The stacks of all these threads follow, with ``all_threads`` those of the others too. It takes no lock that is
    dumped, so it may be called by a signal handler, or by another thread while all others hang::

        signal.signal(signal.SIGUSR1, lambda *_: fairlock.dump())
    """
    contentions, cycles, names = contended(), deadlocks(), _Names()
    lines = [] if contentions else ["fairlock: no thread waits for a lock"]
    for contention in contentions:
        held = f", held by {names[contention.owner]}" if contention.owner is not None else ""
        lines.append(f"{_describe(contention.lock)}{held}")
        lines += [f"  {names[thread]} has waited {seconds:.3f} s" for thread, seconds in contention.waiters.items()]
    for cycle in cycles:
        lines.append("deadlock:")
        for link, holder in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            lines.append(f"  {names[link.thread]} waits for {_describe(link.lock)}, held by {names[holder.thread]}")
        if any(isinstance(link.lock, Lock) for link in cycle):
            lines.append("  (unless another thread releases a Lock of these)")
    frames = sys._current_frames()  # whoever does not wait runs on: its stack may be of two moments
    concerned = dict.fromkeys(thread for c in contentions for thread in (c.owner, *c.waiters) if thread is not None)
    for thread in frames if all_threads else concerned:
        if thread in frames:
            lines.append(f"stack of {names[thread]}, most recent call last:")
            lines += [entry.rstrip("\n") for entry in traceback.format_stack(_outside(frames[thread]))]
    print("\n".join(lines), file=sys.stderr if file is None else file, flush=True)


# --- what the above needs ---


def _present_waits() -> dict[int, tuple[object, float]]:
    """Return what each thread waits for. Of several it is the innermost: those of a signal handler come first."""
    present: dict[int, tuple[object, float]] = {}
    for thread, lock, seconds in waits():
        present.setdefault(thread, (lock, seconds))
    return present


def _owner(lock: object) -> int | None:
    return lock.owner if isinstance(lock, Lock | RLock) else None


def _describe(lock: object) -> str:
    """Tell what it is. Not its repr(): that of a subclass may do anything."""
    text = f"{type(lock).__module__}.{type(lock).__qualname__} at {id(lock):#x}"
    if isinstance(lock, Condition):
        return f"{text} over {_describe(lock._lock)}"
    return f"{text} ({lock.algorithm})" if isinstance(lock, Lock | RLock | Semaphore) else text


class _Names(dict[int, str]):
    """What to call a thread."""

    def __init__(self) -> None:
        super().__init__({t.ident: f"{t.name} [{t.ident}]" for t in threading.enumerate() if t.ident is not None})

    def __missing__(self, thread: int) -> str:
        return f"a thread that has ended [{thread}]" if thread not in sys._current_frames() else f"thread [{thread}]"


def _outside(frame: FrameType) -> FrameType:
    """Return the innermost frame that is not our own."""
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return frame
