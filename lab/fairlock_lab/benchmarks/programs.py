# SPDX-License-Identifier: Apache-2.0
"""Workloads whose lock is inside a program or a library: the preloaded lock, and the folders of databases."""

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
UNREPLACED = "pthread-mutex"  # glibc's lock, which these programs have if nothing is preloaded


# --- the lock ---


def roster(inside: Roster) -> Roster:
    """Return the roster with the locks that can be preloaded in place of those inside ``fairlock_bench``."""
    available: dict[str, list[str]] = {}
    for waiting in waitings():
        for lock in preload.locks(waiting):
            available.setdefault(lock, []).append(waiting)
    subjects = {UNREPLACED: Subject(UNREPLACED, "reference", None)}
    for lock, policies in available.items():
        known = inside.subjects.get(lock, Subject(lock, "lock", "unknown"))
        subjects[lock] = replace(known, policies=tuple(policies), forms=(), max_threads=None)
    return replace(inside, subjects=subjects, policies=tuple(waitings()))


def waitings() -> list[str]:
    try:
        return preload.waiting_policies()
    except FileNotFoundError:
        return []


def missing(plan: Plan) -> dict[str, str]:
    """Return why a plan has only glibc's lock, if nothing can be preloaded."""
    if waitings() or all(point.family not in FAMILIES for point in plan.points):
        return {}
    return {"preload": "this build has no locks to preload: make build"}


def is_available(point: Point) -> bool:
    """Return whether this installation has the lock of a point."""
    if point.lock == UNREPLACED:
        return point.waiting is None
    return point.waiting in waitings() and point.lock in preload.locks(point.waiting)


def environment(point: Point) -> dict[str, str]:
    """Return the environment of a sample's program. Nothing else chooses the preloaded lock."""
    if point.family not in FAMILIES:
        return dict(os.environ)
    if point.lock == UNREPLACED:
        return preload.environment(preload.GLIBC)
    assert point.waiting is not None
    return preload.environment(point.lock, point.waiting)


def preloaded(point: Point) -> dict[str, str] | None:
    """Return what a program reports about its lock: None for glibc's own."""
    if point.lock == UNREPLACED:
        return None
    assert point.waiting is not None
    return {"lock": point.lock, "waiting": point.waiting}


# --- was the lock loaded? ---

NOT_LOADED = "the lock was not loaded, so the sample would measure another one"
LOADER_ERROR = "from LD_PRELOAD cannot be preloaded"  # the loader then continues without the lock
LIBC = re.compile(r"/libc[-.]")  # the file of the C library
# After this many seconds without a C library, the program counts as linked statically. Even a busy machine loads the
# library sooner.
STATIC_AFTER = 5.0


class LockObserver:
    """Checks that a running program uses its lock. Glibc's lock is checked too, so that all samples cost the same.

    It checks repeatedly, because a process may execute another program and drop its environment.
    """

    def __init__(self, point: Point) -> None:
        self._point = point
        # The folders of all locks.
        self._folders = [str(folder.resolve()) for folder in preload.directories()] if waitings() else []
        self._name = self._file = None  # this lock's name in LD_PRELOAD, and its mapped file
        if point.lock != UNREPLACED:
            library = preload.library(point.lock, point.waiting or "")
            self._name, self._file = str(library), str(library.resolve())
        self._correct: bool | None = None  # None: never seen with a C library
        self._static_since: float | None = None  # when it was first seen without one

    def __call__(self, pid: int) -> None:
        # The loader maps preloaded objects before the C library. The maps are read twice, because one reading is not a
        # snapshot: it may show the C library, and still miss the object before it.
        first, maps = maps_of(pid), maps_of(pid)
        if LIBC.search(first) and LIBC.search(maps):
            other = any(folder in maps for folder in self._folders)
            correct = self._file in maps if self._file is not None else not other
            self._correct = correct and self._correct is not False
            self._static_since = None
        elif maps and self._file is not None:
            self._static_since = self._static_since or time.monotonic()
            if time.monotonic() - self._static_since >= STATIC_AFTER:
                self._correct = False

    def verdict(self, errors: str) -> dict[str, object]:
        """Return the metrics about the lock. Raise SampleError if the program had another one."""
        complaints = [
            line.strip() for line in errors.splitlines() if LOADER_ERROR in line and self._name and self._name in line
        ]
        if complaints or self._correct is False:
            raise SampleError("; ".join([NOT_LOADED, *complaints[:1]]))
        if self._correct is None:
            return {"note": "the program ended before its lock could be verified"}
        return {"preloaded": preloaded(self._point)}


def maps_of(pid: int) -> str:
    """Return the memory map of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/maps").read_text(errors="surrogateescape")  # file names need not be text
    except OSError:
        return ""


# --- databases ---


@functools.cache
def database_folder() -> Path:
    """Return a folder for the databases of this process, which is deleted at its end."""
    folder = tempfile.mkdtemp(prefix="fairlock-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def filled_database(folder: Path, fill: Callable[[Path], None]) -> Path:
    """Return a database. If it does not exist, fill it; an interrupted filling leaves nothing behind."""
    if not folder.exists():
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        fill(part)
        part.rename(folder)
    return folder
