# SPDX-License-Identifier: Apache-2.0
"""The commands that the lab adds to `fairlock`."""

from __future__ import annotations

import io
import re
import sys
from importlib import metadata
from pathlib import Path

import processes
import pytest
from conftest import Command

from fairlock import cli
from fairlock_lab import CheckProgress
from fairlock_lab.commands.check import ProgressLine


@pytest.mark.parametrize(
    "arguments",
    ["list", "check tas --threads 2", "bench uncontended --locks twa --no-references --runs 1 --seconds 0.01"],
)
def test_a_closed_output_is_no_error(tmp_path: Path, arguments: str) -> None:
    program = Path(sys.executable).with_name("fairlock")
    done = processes.run(["sh", "-c", f'"$0" {arguments} >&-', program], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_help_describes_every_command(fairlock: Command) -> None:
    done = fairlock("--help")
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    for name, text in cli.all_commands().items():
        assert text, name
        assert re.search(rf"\b{name} {re.escape(text)}", shown), name


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["check", "--max-states", "9" * 30], "--max-states: choose a number from 1 to "),
        (["check", "--litmus", "--mutants"], "--litmus and --mutants exclude each other"),
        (["check", "--litmus", "--threads", "2"], "--litmus has its own bounds: leave --threads out"),
        (["check", "--mutants", "--memory", "sc"], "--mutants has its own bounds: leave --memory out"),
        (["list", "hapax\ntwa\x1b[31m"], r"unknown name 'hapax\ntwa\x1b[31m'"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(fairlock: Command, arguments: list[str], complaint: str) -> None:
    done = fairlock(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"fairlock: {complaint}")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--timeout=-1"], "--timeout: choose more than 0 and at most 86400 seconds, not -1"),
        (["--seed=-1"], "--seed: choose a number from 0 to 9223372036854775807, not -1"),
    ],
)
def test_a_wrong_option_of_a_comparison_is_refused(fairlock: Command, options: list[str], complaint: str) -> None:
    done = fairlock("run", "--lock=twa", "--repeat=1", *options, "--", "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"fairlock: {complaint}"


@pytest.mark.parametrize(
    ("error", "complaint"),
    [
        (ModuleNotFoundError("no", name="fairlock_lab._native"), "the lab's native module, which this installation"),
        (ModuleNotFoundError("no", name="fairlock_lab"), "the lab, which does not load (no); install it again: "),
        (ImportError("GLIBC_9", name="fairlock_lab._native"), "the lab, which does not load (GLIBC_9); install it"),
    ],
)
def test_a_lab_that_does_not_load_is_an_error_of_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: ImportError, complaint: str
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(metadata.EntryPoint, "load", fail)
    assert cli.main(["check", "tas"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fairlock: fairlock check needs {complaint}")


@pytest.mark.parametrize(("term", "shown"), [("xterm", "\r\x1b[K[1/2] 5 states"), ("dumb", "")])
def test_the_progress_of_a_check_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, term: str, shown: str) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLUMNS", "15")
    ProgressLine()(CheckProgress(1, 2, 5, 0.1, "ticket rounds 2x2, 1 slot, sc"))
    assert terminal.getvalue() == shown
