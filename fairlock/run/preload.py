# SPDX-License-Identifier: Apache-2.0
"""The shared objects that replace POSIX locks: a list of them, and the environment that loads one."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path

from fairlock import extensions, paths
from fairlock.usage import UsageError, one_of

GLIBC = "glibc"  # as the name of a lock: replace nothing
DEFAULT_LOCK = "fair"
DEFAULT_WAITING = "spin-then-park"

# The waiting policies of an object, by the folder that it is in. WAITING chooses one at load time.
POLICIES = {"sleeping": (DEFAULT_WAITING, "park"), "awake": ("yield", "spin", "monitor")}
WAITING = "FAIRLOCK_WAITING"  # without it, an object uses the first of its policies


def directories() -> Iterator[Path]:
    """Yield the directories of the objects: the product's, and then the lab's if it is installed and has any."""
    yield paths.preload_dir()
    with contextlib.suppress(metadata.PackageNotFoundError):
        lab = Path(str(metadata.distribution("fairlock-lab").locate_file("fairlock_lab/preload")))
        if lab.is_dir():
            yield lab


def waiting_policies() -> list[str]:
    """Return the waiting policies, the default one first."""
    return [waiting for folder, policies in POLICIES.items() if _objects(folder) for waiting in policies]


def locks(waiting: str = DEFAULT_WAITING) -> list[str]:
    """Return the locks that can be preloaded, by catalogue name."""
    return sorted(_objects(_folder(waiting)))


def library(lock: str, waiting: str = DEFAULT_WAITING) -> Path:
    """Return the shared object for LD_PRELOAD, or raise UsageError."""
    folder = _folder(waiting)
    for directory in directories():
        if file := _objects_in(directory / folder).get(lock):
            return file
    message = one_of("lock", lock, [GLIBC, *locks(waiting)])
    if waiting not in waiting_policies():
        message = one_of("waiting policy", waiting, waiting_policies())
    if len(list(directories())) == 1:
        message += f"; the lab has more: {extensions.HOW_TO_GET_THE_LAB}"
    raise UsageError(message)


def _folder(waiting: str) -> str:
    return next((folder for folder, policies in POLICIES.items() if waiting in policies), "unknown")


def _objects(folder: str) -> dict[str, Path]:
    """Return the objects in this folder of every directory, by the name of the lock."""
    return {lock: file for directory in directories() for lock, file in _objects_in(directory / folder).items()}


def _objects_in(folder: Path) -> dict[str, Path]:
    return {file.stem: file for file in folder.glob("*.so")}


def inherited_environment() -> dict[str, str]:
    """Return the environment of this process without the LC_CTYPE that Python adds in the C locale (PEP 538)."""
    environment = dict(os.environ)
    with contextlib.suppress(OSError):
        if b"\0LC_CTYPE=" not in b"\0" + Path("/proc/self/environ").read_bytes():
            environment.pop("LC_CTYPE", None)
    return environment


def environment(lock: str, waiting: str = DEFAULT_WAITING, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return ``base``, or the inherited environment, changed so that a program has only this lock of fairlock's."""
    base = inherited_environment() if base is None else base
    others = [word for word in re.split("[ :]+", base.get("LD_PRELOAD", "")) if word and not _is_ours(word)]
    changed = {**base, "LD_PRELOAD": ":".join(others)}
    changed.pop(WAITING, None)
    if lock != GLIBC:
        if waiting != DEFAULT_WAITING:
            changed[WAITING] = waiting
        return preloading(library(lock, waiting), changed)
    if not others:
        del changed["LD_PRELOAD"]
    return changed


def preloading(file: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Return ``base``, changed so that ``file`` is loaded before other preloaded objects."""
    if re.search("[ :]", str(file)):
        raise UsageError(f"LD_PRELOAD cannot hold a path with a space or a colon: {file}; install fairlock elsewhere")
    before = base.get("LD_PRELOAD", "")
    return {**base, "LD_PRELOAD": f"{file}:{before}" if before else str(file)}


def _is_ours(name: str) -> bool:
    """Return whether a name in LD_PRELOAD is an object of any fairlock installation, by the names of its symbols."""
    try:
        return b"fairlock_preload_" in Path(name).read_bytes()
    except OSError:  # for example, a name that only the loader can find
        return False
