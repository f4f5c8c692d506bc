# SPDX-License-Identifier: Apache-2.0
"""fairlock run: the program and its children get the chosen lock and waiting policy."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from running import FAIRLOCK, PRINT_LOCK, Compile, call, compiler_in, linux_only, output, run

from fairlock import paths
from fairlock.run import elf, preload

pytestmark = linux_only


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    return compiler_in(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def lock_printer(compiled: Compile) -> Path:
    """A program that prints the lock and the policy of its process, and its arguments."""
    return compiled("lock_printer", "-ldl", source=PRINT_LOCK)


def test_the_default_lock(lock_printer: Path) -> None:
    assert output(run("--", lock_printer)) == f"{preload.DEFAULT_LOCK} {preload.DEFAULT_WAITING}"


@pytest.mark.parametrize("lock", ["fair", "ticket", "twa", "hapax"])
def test_the_chosen_lock(lock: str, lock_printer: Path) -> None:
    assert output(run("--lock", lock, "--", lock_printer)) == f"{lock} {preload.DEFAULT_WAITING}"


@pytest.mark.parametrize("waiting", preload.waiting_policies())
@pytest.mark.parametrize("lock", ["twa", "mcs"])
def test_the_chosen_policy(lock: str, waiting: str, lock_printer: Path) -> None:
    assert output(run("--lock", lock, "--waiting", waiting, "--", lock_printer)) == f"{lock} {waiting}"


def test_a_nested_run_chooses_its_own_policy(lock_printer: Path) -> None:
    outer = ["--lock", "twa", "--waiting", "park", "--", FAIRLOCK, "run", "--lock", "twa"]
    assert output(run(*outer, "--", lock_printer)) == "twa spin-then-park"
    assert output(run(*outer, "--waiting", "yield", "--", lock_printer)) == "twa yield"
    environment = {**os.environ, preload.WAITING: "park"}
    assert output(run("--", lock_printer, env=environment)) == "fair spin-then-park"


def test_print_names_the_policy(lock_printer: Path) -> None:
    line = output(run("--lock", "twa", "--waiting", "park", "--print"))
    assert output(call("sh", "-c", f"env {line} {lock_printer}")) == "twa park"


def test_glibc_replaces_nothing(lock_printer: Path) -> None:
    assert output(run("--lock", "glibc", "--", lock_printer)) == "glibc -"


def test_a_closed_output_does_not_stop_the_program() -> None:
    assert call("sh", "-c", f"{FAIRLOCK} run -- sh -c 'exit 3' >&-").returncode == 3


def test_children_inherit_the_lock(lock_printer: Path) -> None:
    command = f"(true; {lock_printer}) && exec {lock_printer}"
    assert output(run("--lock", "twa", "--", "sh", "-c", command)).splitlines() == ["twa spin-then-park"] * 2


def test_run_through_the_module(lock_printer: Path) -> None:
    assert (
        output(call(sys.executable, "-m", "fairlock", "run", "--lock", "twa", lock_printer, cwd="/"))
        == "twa spin-then-park"
    )


def test_a_program_that_the_loader_starts(lock_printer: Path) -> None:
    program = elf.read(lock_printer)
    assert program is not None
    assert output(run("--lock", "twa", "--", program.loader, lock_printer)) == "twa spin-then-park"


# --- other objects in LD_PRELOAD ---


def preloaded(*words: str | Path, **options: Any) -> list[str]:
    done = run(*words, "--", "sh", "-c", 'echo "$LD_PRELOAD"', **options)
    return [word for word in output(done).split(":") if word]


def test_other_preloaded_objects_stay_behind_the_lock(compiled: Compile) -> None:
    other = compiled("other.so", "-shared", "-fPIC", source="int of_another;")
    environment = {**os.environ, "LD_PRELOAD": f"{other} "}
    assert preloaded("--lock", "twa", env=environment) == [str(preload.library("twa")), str(other)]
    assert preloaded("--lock", "glibc", env=environment) == [str(other)]


def test_the_inner_of_nested_runs_wins(lock_printer: Path, tmp_path: Path) -> None:
    outer = ["--lock", "twa", "--", FAIRLOCK, "run"]
    assert preloaded(*outer, "--lock", "ticket") == [str(preload.library("ticket"))]
    assert preloaded(*outer, "--lock", "glibc") == []
    assert output(run(*outer, "--lock", "ticket", "--", lock_printer)) == "ticket spin-then-park"
    copy = shutil.copy(preload.library("twa"), tmp_path / "copy.so")  # of another installation
    assert preloaded(env={**os.environ, "LD_PRELOAD": str(copy)}) == [str(preload.library("fair"))]


# --- --print and --list ---


def test_a_shell_can_run_what_print_prints(lock_printer: Path) -> None:
    line = output(run("--lock", "twa", "--print"))
    assert output(call("sh", "-c", f"env {line} {lock_printer}")) == "twa spin-then-park"
    line = output(run("--lock", "twa", "--print", "--", lock_printer, "a b"))
    assert output(call("sh", "-c", line)) == "twa spin-then-park [a b]"
    assert output(run("--lock", "glibc", "--print")) == ""
    environment = {**os.environ, "LD_PRELOAD": str(preload.library("fair"))}
    assert output(run("--lock", "glibc", "--print", env=environment)) == "LD_PRELOAD="


def test_print_keeps_a_name_that_is_not_text() -> None:
    name = b"\xff".decode(errors="surrogateescape")
    done = run("--lock", "twa", "--print", "--", "echo", name, errors="surrogateescape")
    assert (done.returncode, done.stdout.split()[-1]) == (0, f"'{name}'")


def test_list_shows_every_lock_and_policy() -> None:
    text = output(run("--list"))
    for waiting in preload.waiting_policies():
        (line,) = (line for line in text.splitlines() if line.startswith(f"{waiting} "))
        assert line.split(maxsplit=1)[1].split(", ") == preload.locks(waiting)


def test_a_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = run("--list", stdout=full)
    assert (done.returncode, done.stderr) == (1, "fairlock: cannot write the output: No space left on device\n")


# --- --stats: test_stats.py tests what they count ---


@pytest.fixture
def stats() -> Path:
    file = paths.preload_dir() / "stats.so"
    if not file.exists():
        pytest.skip("this build has no stats.so")
    return file


@pytest.mark.parametrize("lock", ["twa", "glibc"])
def test_statistics_are_preloaded_before_the_lock(lock: str, stats: Path, lock_printer: Path) -> None:
    done = run("--lock", lock, "--stats", "--", "sh", "-c", f'{lock_printer}; echo "$LD_PRELOAD"; kill -TERM $$')
    ours = [stats] if lock == "glibc" else [stats, preload.library(lock)]
    assert done.stdout.splitlines()[0].split()[0] == lock
    assert done.stdout.splitlines()[1] == ":".join(map(str, ours))
    assert done.returncode == 128 + signal.SIGTERM


def test_an_inner_run_is_not_counted(stats: Path) -> None:
    inner = [FAIRLOCK, "run", "--lock", "ticket", "--", "sh", "-c", 'echo "$LD_PRELOAD"']
    assert run("--stats", "--", *inner).stdout.strip() == str(preload.library("ticket"))
