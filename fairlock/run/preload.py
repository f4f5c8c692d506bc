# SPDX-License-Identifier: Apache-2.0
"""The shared objects that take the place of POSIX locks: which there are, and the environment that loads one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from pathlib import Path

from fairlock import paths
from fairlock.usage import UsageError, one_of

GLIBC = "glibc"  # stands for no replacement at all, wherever a lock is chosen
DEFAULT_LOCK = "fair"
DEFAULT_WAITING = "spin-then-park"


def waitings() -> list[str]:
    """Return the waiting policies, the default one first."""
    names = sorted(folder.name for folder in paths.preload_dir().iterdir() if folder.is_dir())
    return sorted(names, key=lambda name: name != DEFAULT_WAITING)


def locks(waiting: str = DEFAULT_WAITING) -> list[str]:
    """Return the locks that can be preloaded, by catalogue name."""
    return sorted(file.stem for file in (paths.preload_dir() / waiting).glob("*.so"))


def library(lock: str, waiting: str = DEFAULT_WAITING) -> Path:
    """Return the shared object for LD_PRELOAD, or raise UsageError."""
    if waiting not in waitings():
        raise UsageError(one_of("waiting policy", waiting, waitings()))
    if lock not in locks(waiting):
        raise UsageError(one_of("lock", lock, [GLIBC, *locks(waiting)]))
    return paths.preload_dir() / waiting / f"{lock}.so"


def given_environment() -> dict[str, str]:
    """Return what this process was given: in the C locale Python sets LC_CTYPE, also for what it starts (PEP 538)."""
    environment = dict(os.environ)
    with contextlib.suppress(OSError):
        if b"\0LC_CTYPE=" not in b"\0" + Path("/proc/self/environ").read_bytes():
            environment.pop("LC_CTYPE", None)
    return environment


def environment(lock: str, waiting: str = DEFAULT_WAITING, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return ``base``, or what we were given, changed so that a program has this lock, and no other of ours."""
    base = given_environment() if base is None else base
    others = [word for word in re.split("[ :]+", base.get("LD_PRELOAD", "")) if word and not _is_ours(word)]
    changed = {**base, "LD_PRELOAD": ":".join(others)}
    if lock != GLIBC:
        return preloading(library(lock, waiting), changed)
    if not others:
        del changed["LD_PRELOAD"]
    return changed


def preloading(file: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Return ``base``, changed so that ``file`` is loaded before whatever is preloaded already."""
    if re.search("[ :]", str(file)):
        raise UsageError(f"a name in LD_PRELOAD can have neither spaces nor colons; install fairlock elsewhere: {file}")
    before = base.get("LD_PRELOAD", "")
    return {**base, "LD_PRELOAD": f"{file}:{before}" if before else str(file)}


def _is_ours(name: str) -> bool:
    """Return whether a name in LD_PRELOAD is an object of fairlock, of whatever installation: each has such symbols."""
    try:
        return b"fairlock_preload_" in Path(name).read_bytes()
    except OSError:  # also the names that only the loader can find
        return False
