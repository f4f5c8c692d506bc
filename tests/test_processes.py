# SPDX-License-Identifier: Apache-2.0
"""A test whose process does not end in time reports what the process was doing, and leaves no process behind."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import conftest
import processes
import pytest

TESTS = Path(__file__).parent


def test_a_process_that_ends_in_time_returns_its_output() -> None:
    done = processes.run(["sh", "-c", "cat; echo oops >&2; exit 3"], input="text")
    assert (done.returncode, done.stdout, done.stderr) == (3, "text", "oops\n")


def test_a_check_that_fails_shows_the_output() -> None:
    with pytest.raises(AssertionError, match=r"status 3\s+oops"):
        processes.run(["sh", "-c", "echo oops >&2; exit 3"], check=True)


def test_a_timeout_reports_what_the_processes_did_and_kills_them(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"trap '' HUP; trap : USR1; echo partial; sleep 1234 & echo $$ $! > {pids}; wait"
    with pytest.raises(processes.HungError) as caught:
        processes.run(["sh", "-c", script], timeout=1)
    shell, child = map(int, pids.read_text().split())
    report = str(caught.value)
    assert report.startswith("no end after 1 s:\n")
    assert re.search(rf"^process {shell}, child of {os.getpid()}: sh -c ", report, re.MULTILINE)
    assert re.search(rf"^process {child}, child of {shell}: sleep 1234$", report, re.MULTILINE)
    assert re.search(rf"^  thread {shell}: state S, .*ignored SIGHUP.*, caught .*SIGUSR1", report, re.MULTILINE)
    assert re.search(r"^  pipes and terminals: .*1 pipe:\[", report, re.MULTILINE)
    assert "standard output so far: 'partial\\n'" in report
    assert_gone(shell, child)


def test_a_blocked_signal_that_is_pending_is_reported() -> None:
    code = "import os, signal, time; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])\n"
    code += "os.kill(os.getpid(), signal.SIGUSR2); time.sleep(100)"
    with pytest.raises(processes.HungError, match=r"pending SIGUSR2, blocked SIGUSR2"):
        processes.run([sys.executable, "-c", code], timeout=2)


def test_a_timeout_ends_a_read() -> None:
    def read() -> None:
        with processes.start(["sleep", "1234"], timeout=0.5) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    with pytest.raises(processes.HungError, match="sleep 1234"):
        read()


def test_a_forked_child_that_never_ends_is_killed() -> None:
    child = os.fork()
    if child == 0:
        time.sleep(100)
        os._exit(1)
    with pytest.raises(processes.HungError, match=f"process {child}, child of {os.getpid()}: "):
        processes.wait(child, timeout=0.5)
    assert_gone(child)


def test_a_test_that_fails_leaves_no_process() -> None:
    with pytest.raises(ZeroDivisionError), processes.start(["sleep", "1234"]) as process:
        _ = 1 / 0
    assert process.returncode == -signal.SIGKILL


def test_a_process_that_leaves_its_session_is_killed_too(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {pid}; sleep 1234 & wait' & wait"
    with pytest.raises(processes.HungError, match="sleep 1234"):
        processes.run(["sh", "-c", script], timeout=1)
    assert_gone(int(pid.read_text()))


def assert_gone(*pids: int) -> None:
    end = time.monotonic() + 20
    while any(processes.describe(pid).count("state") and "state Z" not in processes.describe(pid) for pid in pids):
        assert time.monotonic() < end, "\n".join(map(processes.describe, pids))
        time.sleep(0.01)


# --- all tests ---


WAITS = {
    *("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen"),
    *("os.wait", "os.waitpid", "os.wait3", "os.wait4"),
}


def test_every_test_waits_for_processes_through_this_module() -> None:
    """This does not check code that a test passes to another Python as a string."""
    direct_calls = [
        f"{file.relative_to(TESTS)}:{node.lineno}: {ast.unparse(node.func)}"
        for file in sorted(TESTS.rglob("*.py"))
        if file.name != "processes.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WAITS
    ]
    assert direct_calls == []


def test_programs_that_tests_start_ignore_no_terminating_signal() -> None:
    code = "import signal; print(*(s.name for s in signal.Signals if signal.getsignal(s) is signal.SIG_IGN))"
    ignored = processes.run([sys.executable, "-c", code]).stdout.split()
    assert not {"SIGINT", *(number.name for number in conftest.TERMINATING)} & {*ignored}


@pytest.mark.skipif(sys.platform != "linux", reason="`fairlock run` is for Linux")
def test_a_test_that_sends_sighup_passes_under_nohup() -> None:
    """Programs under `nohup` inherit an ignored SIGHUP, and a shell cannot trap a signal that was ignored before."""
    test = TESTS / "preload/test_run_stats.py::test_a_program_gets_the_hangup_of_the_terminal"
    command = ["nohup", Path(sys.executable).with_name("pytest"), "-q", "-p", "no:cacheprovider", test]
    done = processes.run(command, timeout=120, cwd=TESTS.parent, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout
