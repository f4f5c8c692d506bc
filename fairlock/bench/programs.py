"""What the workloads share whose lock is inside a program or a library: how it is started, and where databases are."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from fairlock.bench.results import Point


def environment(point: Point) -> dict[str, str]:
    """Return the environment in which a sample's program runs.

    The lock of these workloads can be chosen in no other way than by preloading another, and this is the place for it.
    As yet there is one choice, glibc's ``pthread-mutex``, which needs nothing.
    """
    return dict(os.environ)


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
