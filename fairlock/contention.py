# SPDX-License-Identifier: Apache-2.0
"""``contended()``, ``deadlocks()`` and ``dump()``: which thread waits for which lock, and which thread holds it."""

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
    """A lock, semaphore or condition that threads wait for. Threads are idents, as in ``threading.get_ident()``."""

    lock: object
    #: The thread that holds the lock. None if no thread holds it, and for semaphores and conditions. Python may
    #: reuse the ident of a thread that has ended.
    owner: int | None
    #: The seconds that each thread has waited, the longest wait first.
    waiters: dict[int, float]


class Link(NamedTuple):
    """A thread of a deadlock, and the lock that it waits for. The next thread of the cycle holds that lock."""

    thread: int
    lock: object


def contended() -> list[Contention]:
    """Return the locks, semaphores and conditions of fairlock that threads wait for now, the longest wait first."""
    contentions: dict[int, Contention] = {}
    for thread, lock, seconds in sorted(waits(), key=lambda wait: -wait[2]):
        contention = contentions.setdefault(id(lock), Contention(lock, _owner(lock), {}))
        contention.waiters.setdefault(thread, seconds)
    return list(contentions.values())


def deadlocks() -> list[list[Link]]:
    """Return the cycles of threads that wait for each other's locks.

    A thread that waits for a lock that it holds is a cycle of one. Each cycle is real, but it may still dissolve: a
    wait may have a timeout, and any thread may release a ``Lock``.
    """
    began = time.monotonic()
    before = _present_waits()
    owners = {thread: _owner(lock) for thread, (lock, _) in before.items()}
    after = _present_waits()
    elapsed = time.monotonic() - began
    # Observations from different moments could form a cycle that never existed. But a thread that has been in the same
    # wait since before the first observation has acquired and released nothing since then.
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
        if thread in threads:  # otherwise the path ends at a running thread, or joins a cycle that is already listed
            cycles.append(path[threads.index(thread) :])
    return cycles


def dump(file: TextIO | None = None, *, all_threads: bool = False) -> None:
    """Write to ``file`` which threads wait for which locks, how long, and which threads hold them.

    Deadlocks and the stacks of these threads follow; with ``all_threads``, the stacks of all other threads too.
    ``file`` is ``sys.stderr`` by default.

    It acquires none of the locks that it reports, so it is safe in a signal handler and while all other threads hang::

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
            lines.append("  (unless another thread releases one of these Locks)")
    frames = sys._current_frames()  # the stack of a running thread may mix two moments
    involved = dict.fromkeys(thread for c in contentions for thread in (c.owner, *c.waiters) if thread is not None)
    for thread in frames if all_threads else involved:
        if thread in frames:
            lines.append(f"stack of {names[thread]}, most recent call last:")
            lines += [entry.rstrip("\n") for entry in traceback.format_stack(_caller(frames[thread]))]
    print("\n".join(lines), file=sys.stderr if file is None else file, flush=True)


for _public in (Contention, contended, deadlocks, dump):
    _public.__module__ = "fairlock"  # where users import them from


def _present_waits() -> dict[int, tuple[object, float]]:
    """Return the lock that each thread waits for, and for how long. A wait in a signal handler counts first."""
    present: dict[int, tuple[object, float]] = {}
    for thread, lock, seconds in waits():  # the innermost wait of each thread comes first
        present.setdefault(thread, (lock, seconds))
    return present


def _owner(lock: object) -> int | None:
    return lock.owner if isinstance(lock, Lock | RLock) else None


def _describe(lock: object) -> str:
    """Describe a lock without its repr(), which a subclass may have replaced."""
    text = f"{type(lock).__module__}.{type(lock).__qualname__} at {id(lock):#x}"
    if isinstance(lock, Condition):
        return f"{text} over {_describe(lock._lock)}"
    return f"{text} ({lock.algorithm})" if isinstance(lock, Lock | RLock | Semaphore) else text


class _Names(dict[int, str]):
    """The name of each thread, by its ident."""

    def __init__(self) -> None:
        super().__init__({t.ident: f"{t.name} [{t.ident}]" for t in threading.enumerate() if t.ident is not None})

    def __missing__(self, thread: int) -> str:
        return f"a thread that has ended [{thread}]" if thread not in sys._current_frames() else f"thread [{thread}]"


def _caller(frame: FrameType) -> FrameType:
    """Return the innermost frame outside this module."""
    while frame.f_globals is globals() and frame.f_back is not None:
        frame = frame.f_back
    return frame
