# SPDX-License-Identifier: Apache-2.0
"""fairlock run: the program notices nothing but the lock."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import processes
import pytest
from running import FAIRLOCK, PRINT_LOCK, Compile, call, compiler_in, linux_only, output, run, script

from fairlock.run import preload

pytestmark = linux_only


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    return compiler_in(tmp_path_factory.mktemp("programs"))


@pytest.fixture
def lock_printer(compiled: Compile) -> Path:
    """A program that prints the lock and the policy of its process, and its arguments."""
    return compiled("lock_printer", "-ldl", source=PRINT_LOCK)


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["--", "PRINT_LOCK", "--lock", "x", "--", "-h"], ["--lock", "x", "--", "-h"]),
        (["PRINT_LOCK", "--", "--version"], ["--", "--version"]),
        (["--lock=fair", "PRINT_LOCK", "--lock", "x y", ""], ["--lock", "x y", ""]),
    ],
    ids=["after two dashes", "without", "after an option"],
)
def test_the_program_gets_its_arguments_unchanged(words: list[str], seen: list[str], lock_printer: Path) -> None:
    shown = "".join(f" [{word}]" for word in seen)
    assert (
        output(run(*[lock_printer if word == "PRINT_LOCK" else word for word in words]))
        == f"fair spin-then-park{shown}"
    )


def test_input_output_and_status_are_the_programs() -> None:
    done = run("--", "sh", "-c", "cat; echo oops >&2; exit 7", input="some\ntext")
    assert (done.returncode, done.stdout, done.stderr) == (7, "some\ntext", "oops\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
def test_signals_are_the_programs(number: signal.Signals) -> None:
    words = [FAIRLOCK, "run", "--", "sh", "-c", "echo $$; exec sleep 60"]
    with processes.start(words) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == process.pid
        process.send_signal(number)
        assert process.wait() == -number


def test_signals_that_python_ignores_are_not_ignored() -> None:
    question = ["grep", "^Sig[BIC]", "/proc/self/status"]
    assert output(run("--", *question)) == output(call(*question))


@pytest.mark.parametrize("locale", [{}, {"LC_CTYPE": "C.UTF-8"}, {"LC_ALL": "C"}], ids=["none", "ctype", "all"])
def test_the_environment_stays(locale: dict[str, str]) -> None:
    before = {"PATH": os.environ["PATH"], "WORD": "a\nb \udcff", **locale}
    plain = output(call("env", "-0", env=before, errors="surrogateescape"))
    ours = output(run("--lock", "twa", "--", "env", "-0", env=before, errors="surrogateescape"))
    added = f"LD_PRELOAD={preload.library('twa')}"
    assert sorted(ours.split("\0")) == sorted([*plain.split("\0"), added])
    assert output(run("--lock", "glibc", "--", "env", "-0", env=before, errors="surrogateescape")) == plain


# --- scripts, env ---


def test_a_zero_ends_the_first_line_of_a_script(tmp_path: Path) -> None:
    odd = script(tmp_path / "odd", "#!/bin/sh\0x\necho hi\n")
    assert output(run(odd)) == output(call(odd)) == "hi"


def test_env_reports_its_own_errors(tmp_path: Path) -> None:
    assert run(script(tmp_path / "open", '#!/usr/bin/env -S "sh\n')).returncode == 125


def test_scripts_get_the_lock_and_their_arguments(lock_printer: Path, tmp_path: Path) -> None:
    first = script(tmp_path / "first", f"#!/bin/sh\necho $0 $1; exec {lock_printer}\n")
    second = script(tmp_path / "second", f"#! {first} word\n")
    by_env = script(tmp_path / "by-env", f"#!/usr/bin/env -S A=1 sh -e\necho $0; exec {lock_printer}\n")
    assert output(run("--lock", "twa", second)).splitlines() == [f"{first} word", "twa spin-then-park"]
    assert output(run("--lock", "twa", "./by-env", cwd=tmp_path)).splitlines() == ["./by-env", "twa spin-then-park"]
    assert output(run("--lock", "twa", "env", "A=1", by_env)).splitlines() == [str(by_env), "twa spin-then-park"]


@pytest.mark.parametrize(
    "words",
    [["-S", "echo hi"], ["-S", "echo ${A}", "hi"], ["PATH=/usr/bin:/bin", "echo", "hi"], ["-u", "PATH", "echo", "hi"]],
    ids=str,
)
def test_the_command_of_env_starts(words: list[str]) -> None:
    assert output(run("--", "env", *words, env={**os.environ, "A": ""})).split() == ["hi"]
