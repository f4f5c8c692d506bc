# SPDX-License-Identifier: Apache-2.0
"""What the workloads share whose lock is inside a program or a library: the preloaded lock, and where databases are."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fairlock.run import preload
from fairlock_lab.benchmarks.process import SampleError
from fairlock_lab.benchmarks.results import Plan, Point
from fairlock_lab.benchmarks.roster import Roster, Subject

FAMILIES = ("throw", "atomic-exchange", "leveldb", "rocksdb", "program")
UNREPLACED = "pthread-mutex"  # glibc's: what these programs have if nothing is preloaded


# --- the lock ---


def roster(inside: Roster) -> Roster:
    """Return what can be preloaded, in the place of what ``fairlock_bench`` has inside."""
    able: dict[str, list[str]] = {}
    for waiting in waitings():
        for lock in preload.locks(waiting):
            able.setdefault(lock, []).append(waiting)
    subjects = {UNREPLACED: Subject(UNREPLACED, "reference", None)}
    for lock, policies in able.items():
        known = inside.subjects.get(lock, Subject(lock, "lock", "unknown"))
        subjects[lock] = replace(known, policies=tuple(policies), forms=(), max_threads=None)
    return replace(inside, subjects=subjects, policies=tuple(waitings()))


def waitings() -> list[str]:
    try:
        return preload.waitings()
    except FileNotFoundError:
        return []


def missing(plan: Plan) -> dict[str, str]:
    """Return why a plan has only glibc's lock, if so."""
    if waitings() or all(point.family not in FAMILIES for point in plan.points):
        return {}
    return {"preload": "this build has no locks to load before a program: make build"}


def known(point: Point) -> bool:
    """Return whether this installation has the lock of a point."""
    if point.lock == UNREPLACED:
        return point.waiting is None
    return point.waiting in waitings() and point.lock in preload.locks(point.waiting)


def environment(point: Point) -> dict[str, str]:
    """Return the environment in which a sample's program runs. It chooses the lock: there is no other way to do so."""
    if point.family not in FAMILIES:
        return dict(os.environ)
    if point.lock == UNREPLACED:
        return preload.environment(preload.GLIBC)
    assert point.waiting is not None
    return preload.environment(point.lock, point.waiting)


def preloaded(point: Point) -> dict[str, str] | None:
    """Return what a program must say of its lock, if it can."""
    if point.lock == UNREPLACED:
        return None
    assert point.waiting is not None
    return {"lock": point.lock, "waiting": point.waiting}


# --- whether it was loaded ---

NOT_LOADED = "the lock was not loaded, so the sample would be of another"
COMPLAINT = "from LD_PRELOAD cannot be preloaded"  # the loader's, which then goes on without
LIBC = re.compile(r"/libc[-.]")  # its file
LONG_ENOUGH = 5.0  # seconds without a C library: it is linked statically. The busiest machine loads it before


class Sight:
    """Looks, while a program runs, whether it has its lock; with glibc's too, so that all are alike.

    Again and again, because a process may become another program, without the environment that it was given.
    """

    def __init__(self, point: Point) -> None:
        self._point = point
        self._folders = (
            [str(folder.resolve()) for folder in preload.directories()] if waitings() else []
        )  # of all locks
        self._name = self._file = None  # of this one: as in LD_PRELOAD, and as it is mapped
        if point.lock != UNREPLACED:
            library = preload.library(point.lock, point.waiting or "")
            self._name, self._file = str(library), str(library.resolve())
        self._as_wanted: bool | None = None  # None: it was never seen with a C library
        self._bare: float | None = None  # since when it is seen without one

    def __call__(self, pid: int) -> None:
        # What is preloaded comes before everything else that a program needs. Looked at twice: what we read was not all
        # there at one moment.
        first, maps = maps_of(pid), maps_of(pid)
        if LIBC.search(first) and LIBC.search(maps):
            other = any(folder in maps for folder in self._folders)
            wanted = self._file in maps if self._file is not None else not other
            self._as_wanted = wanted and self._as_wanted is not False
            self._bare = None
        elif maps and self._file is not None:
            self._bare = self._bare or time.monotonic()
            if time.monotonic() - self._bare >= LONG_ENOUGH:
                self._as_wanted = False

    def found(self, errors: str) -> dict[str, object]:
        """Return what the sample says of its lock, or raise SampleError."""
        complaints = [
            line.strip() for line in errors.splitlines() if COMPLAINT in line and self._name and self._name in line
        ]
        if complaints or self._as_wanted is False:
            raise SampleError("; ".join([NOT_LOADED, *complaints[:1]]))
        if self._as_wanted is None:
            return {"note": "it ended before it could be seen which lock it had"}
        return {"preloaded": preloaded(self._point)}


def maps_of(pid: int) -> str:
    """Return which files a process has in memory; nothing, if it has ended."""
    try:
        return Path(f"/proc/{pid}/maps").read_text(errors="surrogateescape")  # names as they are
    except OSError:
        return ""


# --- databases ---


@functools.cache
def shelf() -> Path:
    """Return a folder for the databases of this run; it goes when the run ends."""
    folder = tempfile.mkdtemp(prefix="fairlock-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def filled(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Return a database, made if it is not there: all of it, or nothing."""
    if not folder.exists():
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        fill(part)
        part.rename(folder)
    return folder
