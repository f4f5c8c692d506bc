# SPDX-License-Identifier: Apache-2.0
"""The preloadable objects themselves: which there are, what they need, and what they put in a program's way."""

from __future__ import annotations

import re

import processes
import pytest

from fairlock import paths
from fairlock.run import preload
from fairlock_lab import _native

FOR_THE_LAB = {"mcs", "clh", "hemlock", "reciprocating"}
OBJECTS = sorted(paths.preload_dir().glob("*/*.so"))
OWN_NAMES = {"fairlock_preload_lock", "fairlock_preload_waiting", "fairlock_preload_parks"}
POSIX_NAMES = {
    *(f"pthread_mutex_{name}" for name in ("init", "destroy", "lock", "trylock", "timedlock", "clocklock", "unlock")),
    *(f"__pthread_mutex_{name}" for name in ("init", "destroy", "lock", "trylock", "unlock")),
    *(f"pthread_cond_{name}" for name in ("init", "destroy", "signal", "broadcast", "wait", "timedwait", "clockwait")),
    *("pthread_setcanceltype", "mmap", "mmap64", "shmat"),
    *(f"sem_{name}" for name in ("init", "destroy", "wait", "trywait", "timedwait", "clockwait", "post", "getvalue")),
}


def readelf(*arguments: object) -> str:
    return processes.run(["readelf", "-W", *map(str, arguments)], check=True).stdout


def test_there_is_one_for_every_preloadable_lock_of_the_catalogue() -> None:
    preloadable = {lock["name"] for lock in _native.locks() if lock["preloadable"] and not lock["variation"]}
    assert not preloadable & FOR_THE_LAB
    assert set(preload.locks()) == preloadable | FOR_THE_LAB


def test_every_lock_is_there_with_every_waiting_policy() -> None:
    assert preload.waitings()[0] == "spin-then-park"
    assert set(preload.waitings()) == {"spin-then-park", "park", "yield", "spin", "monitor"}
    for waiting in preload.waitings():
        assert preload.locks(waiting) == preload.locks()


@pytest.mark.parametrize("file", OBJECTS, ids=lambda file: f"{file.stem}-{file.parent.name}")
def test_an_object_needs_libc_alone_and_shows_only_the_names_of_posix(file: object) -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file))
    assert [name.split(".so")[0] for name in needed] == ["libc"]
    symbols = [line.split() for line in readelf("--dyn-syms", file).splitlines()]
    defined = {words[7] for words in symbols if len(words) > 7 and words[0][:-1].isdigit() and words[6] != "UND"}
    assert defined == POSIX_NAMES | OWN_NAMES  # and each without a version, which would stand behind an @
