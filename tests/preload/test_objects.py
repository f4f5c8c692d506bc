# SPDX-License-Identifier: Apache-2.0
"""The preloadable objects: a complete set, which needs only libc and defines only the names of POSIX."""

from __future__ import annotations

import os
import re
from pathlib import Path

import processes
import pytest

from fairlock import paths
from fairlock.run import preload
from fairlock_lab import _native

FOR_THE_LAB = {"mcs", "clh", "hemlock", "reciprocating"}
OBJECTS = sorted(file for directory in preload.directories() for file in directory.glob("*/*.so"))
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


def test_every_preloadable_lock_of_the_catalogue_has_an_object() -> None:
    preloadable = {lock["name"] for lock in _native.locks() if lock["preloadable"] and not lock["variation"]}
    assert not preloadable & FOR_THE_LAB
    assert {file.stem for file in (paths.preload_dir() / "sleeping").glob("*.so")} == preloadable
    assert set(preload.locks()) == preloadable | FOR_THE_LAB


def test_every_lock_has_every_waiting_policy() -> None:
    assert preload.waiting_policies()[0] == "spin-then-park"
    assert set(preload.waiting_policies()) == {"spin-then-park", "park", "yield", "spin", "monitor"}
    for waiting in preload.waiting_policies():
        assert preload.locks(waiting) == preload.locks()


def name_of(file: Path) -> str:
    return f"{file.stem}-{file.parent.name}"


@pytest.mark.parametrize("file", OBJECTS, ids=name_of)
def test_an_object_needs_only_libc_and_defines_only_the_names_of_posix(file: Path) -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file))
    assert [name.split(".so")[0] for name in needed] == ["libc"]
    symbols = [line.split() for line in readelf("--dyn-syms", file).splitlines()]
    defined = {words[7] for words in symbols if len(words) > 7 and words[0][:-1].isdigit() and words[6] != "UND"}
    assert defined == POSIX_NAMES | OWN_NAMES  # and no name has a version, which would follow an @


@pytest.mark.parametrize("file", OBJECTS, ids=name_of)
def test_an_object_refuses_a_policy_that_it_does_not_have(file: Path) -> None:
    """The error lists the object's policies, which are those that `fairlock run` expects in this folder."""
    environment = {**os.environ, "LD_PRELOAD": str(file), preload.WAITING: "bogus"}
    done = processes.run(["true"], env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("fairlock: FAIRLOCK_WAITING=bogus: ")
    policies = done.stderr.strip().rpartition("choose from: ")[2].split(", ")
    assert tuple(policies) == preload.POLICIES[file.parent.name]


def test_an_empty_policy_is_the_default() -> None:
    environment = {**preload.environment("fair"), preload.WAITING: ""}
    assert processes.run(["true"], env=environment).returncode == 0
