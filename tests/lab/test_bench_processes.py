# SPDX-License-Identifier: Apache-2.0
"""The processes that take samples: none hangs, and none outlives its sample or a signal."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import processes
import pytest
from bench_support import PROGRAM, QUICK, succeed
from conftest import Python

from fairlock_lab.benchmarks import native
from fairlock_lab.benchmarks.native import SampleError


def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    begin = time.monotonic()
    with pytest.raises(SampleError, match=r"no end after 0\.5 s"):
        native.call(["sh", "-c", f"sleep 100 & echo $! > {pid}; wait"], 0.5)
    assert time.monotonic() - begin < 30
    await_end(int(pid.read_text()))  # its child has been killed too


@pytest.mark.parametrize("left", ["sleep 100", "timeout 100 sleep 100"])  # `timeout` makes a process group
def test_a_process_that_another_leaves_behind_is_killed(left: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    assert native.call(["sh", "-c", f"{left} & echo $! > {pid}; sleep 0.1; exit 3"], 20)[0] == 3
    await_end(int(pid.read_text()))


def test_many_signals_leave_nothing_behind(tmp_path: Path) -> None:
    """A user may press Ctrl-C repeatedly, and `timeout` signals both the process and its group."""
    pid = tmp_path / "pid"
    script = f"echo $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 100"
    command = [PROGRAM, "run", "--lock=glibc", "--repeat=2", "--", "sh", "-c", script]
    with processes.start(command, 120, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
        while not pid.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        for number in (signal.SIGTERM, signal.SIGQUIT, *[signal.SIGTERM] * 20):
            process.send_signal(number)
        process.communicate()
    assert process.returncode == 130
    await_end(int(pid.read_text()))


def test_a_signal_that_does_not_interrupt_our_wait(python: Python) -> None:
    """A signal just before the wait does not interrupt it. Another thread sends it, so that this always happens."""
    code = """if True:
        import signal, threading, time
        from fairlock import signals
        from fairlock_lab.benchmarks import process

        def send():
            time.sleep(0.5)
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

        signals.all_as_ctrl_c()
        threading.Thread(target=send).start()
        process.run(["sleep", "1000"], 900)
    """
    assert python("-c", code).stderr.splitlines()[-1] == "KeyboardInterrupt"


def test_after_signals_everything_is_as_before(python: Python) -> None:
    code = """if True:
        import os, signal
        from fairlock import signals

        def state():
            handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
            return handlers, signal.pthread_sigmask(signal.SIG_BLOCK, []), os.listdir("/proc/self/fd")

        signals.all_as_ctrl_c()
        before = state()
        try:
            with signals.deferred() as (came, read, write):
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGINT)
                assert came == [signal.SIGTERM, signal.SIGINT]
                assert os.read(read, 10) == bytes(came)
        except KeyboardInterrupt:
            assert state() == before
            assert signal.set_wakeup_fd(-1) == -1
            print("as before")
    """
    done = python("-c", code)
    assert done.stdout == "as before\n", done.stderr


def test_children_that_vanish_are_reported(python: Python) -> None:
    code = """if True:
        import signal
        from fairlock_lab.benchmarks import process

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        process.run(["true"], 900)
    """
    assert python("-c", code).stderr.splitlines()[-1].startswith("ChildProcessError")


def await_end(process: int) -> None:
    for _ in range(100):
        try:
            if Path(f"/proc/{process}/stat").read_text().split()[2] == "Z":
                return
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("it still runs")


def test_a_parent_that_ignores_sigchld_does_no_harm(tmp_path: Path) -> None:
    """A process inherits an ignored SIGCHLD, and the kernel would then discard the status of its children."""
    code = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-c", code, PROGRAM, "bench", "mutex", "--config=maximum", "--locks=twa", *QUICK]
    succeed(processes.run(command, cwd=tmp_path))
