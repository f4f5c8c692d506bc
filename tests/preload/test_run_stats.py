# SPDX-License-Identifier: Apache-2.0
"""fairlock run --stats: the report, the file, and a program that runs as it would without it."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import processes
import pytest
from counted_programs import SOURCES, Build, builder_in, object_named


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return builder_in(tmp_path_factory.mktemp("stats"))


FAIRLOCK = [
    sys.executable,
    "-c",
    "import sys\nfrom fairlock.cli import main\nsys.exit(main())",
    "run",
    "--lock",
    "glibc",
]


def with_stats(*command: str | Path, json_file: Path | None = None) -> list[str]:
    return [*FAIRLOCK, "--stats", *(["--json", str(json_file)] if json_file else []), "--", *map(str, command)]


def run_with_stats(*command: str | Path, json_file: Path | None = None, text: str = "") -> processes.Result:
    return processes.run(with_stats(*command, json_file=json_file), input=text, start_new_session=True)


@contextlib.contextmanager
def ready_with_stats(*command: str | Path) -> Iterator[processes.Process]:
    """Yield the process once the program has printed that it is ready."""
    with processes.start(with_stats(*command), start_new_session=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        yield running


def test_run_prints_a_table_and_writes_a_file(build: Build, tmp_path: Path) -> None:
    done = run_with_stats(build("contended"), json_file=tmp_path / "stats.json")
    assert (done.returncode, done.stdout) == (0, "")
    (row,) = [line for line in done.stderr.splitlines() if line.startswith("ledger")]
    line = 1 + (SOURCES / "contended.c").read_text().splitlines().index("  pthread_mutex_lock(&ledger);")
    assert row.split()[1:5] == ["deposit", f"(contended.c:{line})", "2", "50.00%"]
    assert "calm" not in done.stderr
    document = json.loads((tmp_path / "stats.json").read_text())
    assert (document["status"], len(document["processes"])) == (0, 1)
    assert object_named(document["processes"][0], "ledger")["contended"] == 1


def test_run_passes_input_output_and_status_on() -> None:
    done = run_with_stats("sh", "-c", "cat; echo error >&2; exit 7", text="text")
    assert (done.returncode, done.stdout) == (7, "text")
    assert done.stderr.startswith("error\n")
    assert "without contention" in done.stderr


def test_run_reports_the_signal_that_killed_the_program() -> None:
    done = run_with_stats("sh", "-c", "kill -KILL $$")
    assert "no statistics" in done.stderr
    assert done.returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM])
def test_run_passes_signals_to_the_program(number: signal.Signals) -> None:
    script = f"trap 'exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.01; done"
    with ready_with_stats("sh", "-c", script) as running:
        running.send_signal(number)
        running.communicate()
    assert running.returncode == 9


# Starts the program, and then waits until SIGHUP is pending, as if the parent got no processor time meanwhile.
SLOW_START = """\
import os, signal, sys, time
from fairlock import cli
start = os.posix_spawnp
def start_slowly(*arguments, **settings):
    child = start(*arguments, **settings)
    while signal.SIGHUP not in signal.sigpending(): time.sleep(0.01)
    return child
os.posix_spawnp = start_slowly
sys.exit(cli.main())
"""


def test_a_signal_just_after_the_start_reaches_the_program() -> None:
    script = "trap 'exit 9' HUP; echo ready; while :; do sleep 0.01; done"
    command = [sys.executable, "-c", SLOW_START, "run", "--stats", "--", "sh", "-c", script]
    with processes.start(command) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGHUP)
        running.communicate()
    assert running.returncode == 9


COUNTING = """\
n=0; trap 'n=$((n+1))' INT HUP; echo ready; while [ $n = 0 ]; do sleep 0.01; done; sleep 0.3; exit $((n + 40))
"""


@pytest.mark.parametrize("before", [(), ("setsid", "-w")], ids=["same group", "its own session"])
def test_a_program_gets_one_interrupt_from_the_terminal(before: tuple[str, ...]) -> None:
    """Ctrl-C signals all processes of the terminal at once, and `fairlock` must not signal the program again."""
    with on_terminal(*before, "sh", "-c", COUNTING) as (leader, child):
        os.write(leader, b"\x03")
        assert processes.wait(child) == 41


def test_a_program_gets_the_hangup_of_the_terminal() -> None:
    with on_terminal("sh", "-c", COUNTING) as (leader, child):
        os.close(leader)
        assert processes.wait(child) > 40


@contextlib.contextmanager
def on_terminal(*command: str) -> Iterator[tuple[int, int]]:
    """Yield a terminal and the process that runs on it, once that process is ready."""
    leader, follower = os.openpty()
    child = os.fork()
    if child == 0:
        os.login_tty(follower)
        os.execv(sys.executable, [*FAIRLOCK, "--stats", "--", *command])
    os.close(follower)
    seen = b""
    with processes.watched(child):
        while b"ready" not in seen:
            seen += os.read(leader, 1000)
    yield leader, child
    with contextlib.suppress(OSError):
        os.close(leader)


def test_a_signal_during_the_report_leaves_no_folder() -> None:
    slow = "import sys, time\nfrom fairlock import cli\nfrom fairlock.run import lock_statistics\n"
    slow += "lock_statistics.collect = lambda folder: (print(folder, flush=True), time.sleep(60))\nsys.exit(cli.main())"
    with processes.start([sys.executable, "-c", slow, "run", "--stats", "--", "true"]) as running:
        assert running.stdout is not None
        folder = Path(running.stdout.readline().strip())
        assert folder.is_dir()
        running.terminate()
        assert running.wait() == 130
    assert not folder.exists()


def test_a_signal_that_fairlock_ignores_reaches_the_program() -> None:
    code = "import signal, sys, time; signal.signal(signal.SIGUSR2, lambda *_: sys.exit(9)); print('ready', flush=True)"
    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        with ready_with_stats(sys.executable, "-c", f"{code}; time.sleep(60)") as running:
            running.send_signal(signal.SIGUSR2)
            running.communicate()
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert running.returncode == 9


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    done = run_with_stats("echo", "started", json_file=tmp_path / "nowhere" / "stats.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fairlock: cannot write ")
    assert done.stderr.count("\n") == 1


def test_an_unwritable_file_is_refused_or_leaves_the_status(tmp_path: Path) -> None:
    assert run_with_stats("true", json_file=tmp_path).returncode == 2
    full = run_with_stats("sh", "-c", "exit 3", json_file=Path("/dev/full"))
    assert "cannot write /dev/full: No space left" in full.stderr
    assert full.returncode == 3


@pytest.mark.parametrize("where", ["/dev/full", "&-"])
def test_a_report_that_cannot_be_printed_leaves_output_and_status(where: str) -> None:
    words = shlex.join([*FAIRLOCK, "--stats", "--", "sh", "-c", "exit 3"])
    done = processes.run(["sh", "-c", f"exec {words} 2>{where}"])
    assert (done.returncode, done.stdout) == (3, "")


@pytest.mark.parametrize(
    ("tampering", "message"),
    [
        ("rm -r $folder", "no statistics"),
        ("mkdir $folder/x; mkfifo $folder/y; echo [1] > $folder/z", "without contention"),
        ('echo \'{"format": "fairlock-lock-statistics"}\' > $folder/z', "without contention"),
    ],
)
def test_a_program_that_tampers_with_the_folder(tampering: str, message: str) -> None:
    done = run_with_stats("sh", "-c", f"folder=${{FAIRLOCK_STATS%/*}}; {tampering}; exit 3")
    assert message in done.stderr
    assert done.returncode == 3


def test_a_limit_on_file_sizes_does_not_end_the_program() -> None:
    done = run_with_stats("bash", "-c", "ulimit -f 0; exec sh -c 'exit 3'")
    assert "no statistics" in done.stderr
    assert done.returncode == 3
