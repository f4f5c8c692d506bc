# SPDX-License-Identifier: Apache-2.0
"""Statistics of a program's mutexes: what is counted, that the program does not notice, and what `run` makes of it."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import processes
import pytest

from fairlock import paths
from fairlock.run import lock_statistics, preload, symbols

SOURCES = Path(__file__).parent / "stats"
LOCKS = [preload.GLIBC, "twa", "fair", "hapax-vw"]

Document = dict[str, Any]
Build = Callable[..., Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compile a program of `stats/`, once for each set of options."""
    folder = tmp_path_factory.mktemp("stats")

    def make(name: str, *options: str) -> Path:
        program = folder / "-".join([name, *(option.strip("-") for option in options)])
        if not program.exists():
            command = ["cc", "-O1", "-g", "-pthread", SOURCES / f"{name}.c", "-o", program, *options]
            processes.run(command, check=True)
        return program

    return make


class Runs:
    """Runs programs with statistics, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        self.output = ""

    def __call__(self, *command: str | Path, lock: str = preload.GLIBC, **environment: str) -> list[Document]:
        """Return the documents of all processes, children before their parents."""
        self.folder.mkdir()
        base = preload.environment(lock, base={**os.environ, **environment})
        settings = {**preload.preloading(lock_statistics.library(), base), "FAIRLOCK_STATS": str(self.folder / "out")}
        done = processes.run([str(word) for word in command], env=settings)
        assert done.returncode >= 0 or "kill" in command, done.stderr
        self.status, self.output = done.returncode, done.stdout
        found = [json.loads(file.read_text()) for file in self.folder.iterdir()]
        numbers = {process["pid"] for process in found}
        return sorted(found, key=lambda process: process["parent"] not in numbers)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "processes")


@pytest.fixture(params=LOCKS)
def lock(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def named(process: Document, symbol: str) -> Document:
    """Return the one object of that name."""
    lock_statistics.resolve([process])
    (found,) = [one for one in process["objects"] if one["symbol"] == symbol]
    return dict(found)


# --- what is counted ---


def test_every_acquisition_is_counted_for_its_thread(build: Build, runs: Runs, lock: str) -> None:
    (process,) = runs(build("counts"), lock=lock)
    counted = named(process, "counted")
    assert sorted(one["acquisitions"] for one in counted["by_thread"]) == [100, 200, 300, 400, 500]
    assert counted["acquisitions"] == 1500
    assert counted["threads"] == 5
    permits = named(process, "permits")
    assert permits["kind"] == "semaphore"
    assert sorted(one["acquisitions"] for one in permits["by_thread"]) == [100, 200, 300, 400, 500]
    # Whoever waits on a condition takes its mutex once more, at least.
    meeting = named(process, "meeting")
    assert min(one["acquisitions"] for one in meeting["by_thread"]) == 1
    assert sum(one["acquisitions"] >= 2 for one in meeting["by_thread"]) == 4


@pytest.mark.parametrize("option", ["-pie", "-no-pie", "-rdynamic"])
def test_contention_has_the_names_of_the_mutex_and_of_the_function(build: Build, runs: Runs, option: str) -> None:
    (process,) = runs(build("contended", option))
    ledger = named(process, "ledger")
    assert process["objects"][0]["symbol"] in ("ledger", "pool+0x8")  # by waiting time
    (site,) = ledger["call_sites"]
    assert site["symbol"] == "deposit"
    source = (SOURCES / "contended.c").read_text().splitlines()
    assert "pthread_mutex_lock(&ledger)" in source[site["frames"][0]["line"] - 1]
    (site,) = named(process, "pool+0x8")["call_sites"]
    assert site["symbol"] == "take"


def test_what_is_exported_has_a_name_without_tools(
    build: Build, runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (process,) = runs(build("contended", "-rdynamic"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert named(process, "calm")["acquisitions"] == 1
    (unknown,) = [one for one in process["objects"] if one["symbol"] is None]
    assert lock_statistics.describe(unknown) == f"contended-rdynamic+{unknown['offset']}"


def test_a_stripped_program_gets_no_wrong_names(build: Build, runs: Runs) -> None:
    (process,) = runs(build("contended", "-s"))
    lock_statistics.resolve([process])
    assert [one["symbol"] for one in process["objects"]] == [None] * 3
    for site in (site for one in process["objects"] for site in one["call_sites"]):
        assert lock_statistics.describe(site) == f"contended-s+{site['offset']}"


def test_waits_are_counted(build: Build, runs: Runs, lock: str) -> None:
    (process,) = runs(build("contended"), "3", lock=lock)
    ledger, pool, calm = (named(process, name) for name in ("ledger", "pool+0x8", "calm"))
    assert (ledger["acquisitions"], ledger["contended"], ledger["abandoned"]) == (6, 3, 0)
    assert (pool["acquisitions"], pool["contended"]) == (3, 3)
    assert (calm["acquisitions"], calm["contended"], calm["waited_ns"], calm["fairness"]) == (3, 0, 0, None)
    assert sum(one["contended"] for one in ledger["by_thread"]) == 3
    assert 0 < ledger["longest_ns"] <= ledger["waited_ns"]
    assert ledger["fairness"] == {"threads": 3, "smallest": 1, "largest": 1, "jain": 1.0}
    if lock == preload.GLIBC:
        assert ledger["parks"] is ledger["hand_overs"] is process["waiting"] is None
    else:
        assert ledger["hand_overs"] == pool["hand_overs"] == 3
        assert ledger["parks"] >= 3
        assert process["waiting"] == preload.DEFAULT_WAITING
    assert process["lock"] == lock


def test_programs_see_no_difference(build: Build, runs: Runs, lock: str) -> None:
    program = build("outcomes")
    environment = preload.environment(lock)
    plain = processes.run([program], env=environment, check=True)
    (process,) = runs(program, lock=lock)
    assert runs.output == plain.stdout
    assert plain.stdout.count("\n") == 50
    # Nobody waited for a mutex but those who gave up. Other waits end by a timeout, too: one on a condition, one for a
    # semaphore, and one that is not tried first, by a clock of which not every mutex knows.
    mutexes = [one for one in process["objects"] if one["kind"] == "mutex"]
    assert sum(one["abandoned"] for one in mutexes) == plain.stdout.count("ETIMEDOUT") - 3
    assert sum(one["contended"] for one in mutexes) == 0
    assert all(one["longest_ns"] > 10_000_000 for one in mutexes if one["abandoned"])


def test_a_full_table_says_how_much_it_missed(build: Build, runs: Runs) -> None:
    (process,) = runs(build("many"), "mutexes")
    assert process["uncounted"] > 0
    assert process["acquisitions"] + process["uncounted"] == 100_000
    assert process["acquisitions"] > 60_000
    assert len(process["objects"]) == 200
    assert process["left_out"] == process["acquisitions"] - 200


def test_ten_thousand_threads(build: Build, runs: Runs, lock: str) -> None:
    (process,) = runs(build("many"), lock=lock)
    counted = named(process, "counted")
    assert (counted["threads"], counted["acquisitions"], process["uncounted"]) == (10_000, 10_000, 0)
    assert len({one["thread"] for one in counted["by_thread"]}) == 10_000


def test_the_child_of_a_fork_counts_for_itself(build: Build, runs: Runs, lock: str) -> None:
    child, parent = runs(build("forks"), lock=lock)  # and no third one, of the vfork
    assert child["parent"] == parent["pid"]
    assert [one["acquisitions"] for one in named(parent, "counted")["by_thread"]] == [6, 1]
    assert [one["acquisitions"] for one in named(child, "counted")["by_thread"]] == [4, 1]


@pytest.mark.parametrize("how", ["return", "exit", "_exit", "_Exit", "quick_exit", "thread", "cancelled"])
def test_every_orderly_end_leaves_a_document(build: Build, runs: Runs, how: str) -> None:
    (process,) = runs(build("exits"), how)
    assert runs.status == 3
    assert named(process, "counted")["acquisitions"] == 1


def test_a_killed_program_leaves_nothing(build: Build, runs: Runs) -> None:
    assert runs(build("exits"), "kill") == []
    assert runs.status == -signal.SIGKILL


def test_a_program_without_mutexes(runs: Runs) -> None:
    (process,) = runs(str(shutil.which("true")), "an argument", 'and "\\\n')
    assert process["command"][1:] == ["an argument", 'and "\\\n']
    assert (process["acquisitions"], process["objects"]) == (0, [])


def test_constructors_and_malloc_may_lock_first(build: Build, runs: Runs, lock: str) -> None:
    library = build("early", "-shared", "-fPIC")
    (process,) = runs(build("contended"), lock=lock, LD_PRELOAD=str(library))
    assert named(process, "early")["acquisitions"] == 1
    assert named(process, "heap")["acquisitions"] >= 1
    assert named(process, "ledger")["contended"] == 1


def test_a_constructor_may_wait_for_a_thread_that_locks(build: Build, runs: Runs, lock: str) -> None:
    """The loader's lock is taken then: whoever asked it for a function would hang."""
    library = build("waiting_constructor", "-shared", "-fPIC")
    (process,) = runs(build("opens"), library, lock=lock)
    assert named(process, "counted")["acquisitions"] == 1


def test_a_document_has_these_parts(build: Build, runs: Runs) -> None:
    (process,) = runs(build("contended"))
    assert (process["format"], process["version"]) == (lock_statistics.FORMAT, lock_statistics.VERSION)
    waits = {"contended", "abandoned", "waited_ns", "longest_ns", "parks", "hand_overs"}
    place = {"address", "module", "offset", "symbol"}
    totals = {"format", "version", "pid", "parent", "command", "lock", "waiting", "threads", "uncounted", "left_out"}
    assert process.keys() == totals | waits | {"acquisitions", "objects"}
    for one in process["objects"]:
        own = {"kind", "acquisitions", "call_sites", "by_thread", "threads", "fairness"}
        assert one.keys() == own | waits | place
        assert one["kind"] in ("mutex", "semaphore")
        assert all(site.keys() == waits | place for site in one["call_sites"])
        assert all(thread.keys() == {"thread", "acquisitions", "contended"} for thread in one["by_thread"])
        for sums, parts in ((one, one["by_thread"]), (one, one["call_sites"]), (process, process["objects"])):
            assert sums["contended"] == sum(part["contended"] for part in parts)


def test_the_object_needs_libc_alone() -> None:
    def readelf(option: str) -> list[list[str]]:
        command = ["readelf", "-W", option, str(lock_statistics.library())]
        done = processes.run(command, check=True)
        return [line.split() for line in done.stdout.splitlines()]

    needed = [words[-1] for words in readelf("-d") if "(NEEDED)" in words]
    assert [name.partition(".so")[0] for name in needed] == ["[libc"]
    symbols = [words for words in readelf("--dyn-syms") if len(words) > 7 and words[0][:-1].isdigit()]
    defined = {words[7] for words in symbols if words[6] != "UND"}
    assert "pthread_mutex_lock" in defined
    assert not any("@" in name or "fairlock" in name for name in defined)  # without a version, and nothing of ours
    wanted = {words[7].partition("@")[0] for words in symbols if words[6] == "UND"}
    assert not wanted & {"malloc", "calloc", "__tls_get_addr"}


# --- fairlock run --stats ---


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
    whole = json.loads((tmp_path / "stats.json").read_text())
    assert (whole["status"], len(whole["processes"])) == (0, 1)
    assert named(whole["processes"][0], "ledger")["contended"] == 1


def test_run_passes_input_output_and_status_on() -> None:
    done = run_with_stats("sh", "-c", "cat; echo error >&2; exit 7", text="text")
    assert (done.returncode, done.stdout) == (7, "text")
    assert done.stderr.startswith("error\n")
    assert "without contention" in done.stderr


def test_run_tells_by_which_signal_the_program_ended() -> None:
    done = run_with_stats("sh", "-c", "kill -KILL $$")
    assert "no statistics" in done.stderr
    assert done.returncode == 128 + signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM])
def test_run_hands_signals_to_the_program(number: signal.Signals) -> None:
    script = f"trap 'exit 9' {number.name[3:]}; echo ready; while :; do sleep 0.01; done"
    with ready_with_stats("sh", "-c", script) as running:
        running.send_signal(number)
        running.communicate()
    assert running.returncode == 9


# Waits until SIGHUP is pending, as if the parent got no processor time after it started the program.
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
def test_from_the_terminal_a_program_gets_one_interrupt(before: tuple[str, ...]) -> None:
    """As Ctrl-C does, to all of its processes at once; and Python's are not in its way."""
    with on_terminal(*before, "sh", "-c", COUNTING) as (leader, child):
        os.write(leader, b"\x03")
        assert processes.wait(child) == 41


def test_the_end_of_the_terminal_is_told() -> None:
    with on_terminal("sh", "-c", COUNTING) as (leader, child):
        os.close(leader)
        assert processes.wait(child) > 40


@contextlib.contextmanager
def on_terminal(*command: str) -> Iterator[tuple[int, int]]:
    """Give a terminal and what runs there, as soon as it is ready."""
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


def test_an_end_while_the_report_is_made_leaves_no_folder() -> None:
    slow = "import sys, time\nfrom fairlock import cli, lock_stats\n"
    slow += "lock_stats.collect = lambda folder: (print(folder, flush=True), time.sleep(60))\nsys.exit(cli.main())"
    with processes.start([sys.executable, "-c", slow, "run", "--stats", "--", "true"]) as running:
        assert running.stdout is not None
        folder = Path(running.stdout.readline().strip())
        assert folder.is_dir()
        running.terminate()
        assert running.wait() == 130
    assert not folder.exists()


def test_what_we_ignore_is_for_the_program_all_the_same() -> None:
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


def test_without_statistics_nothing_is_preloaded_for_them() -> None:
    for lock in LOCKS:
        assert "stats.so" not in preload.environment(lock, base={}).get("LD_PRELOAD", "")
    assert paths.preload_dir() / "stats.so" == lock_statistics.library()


def test_a_file_that_cannot_be_written_is_told_before_or_leaves_the_status(tmp_path: Path) -> None:
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
    ("deed", "told"),
    [
        ("rm -r $folder", "no statistics"),
        ("mkdir $folder/x; mkfifo $folder/y; echo [1] > $folder/z", "without contention"),
        ('echo \'{"format": "fairlock-lock-statistics"}\' > $folder/z', "without contention"),
    ],
)
def test_a_program_that_tampers_with_the_folder(deed: str, told: str) -> None:
    done = run_with_stats("sh", "-c", f"folder=${{FAIRLOCK_STATS%/*}}; {deed}; exit 3")
    assert told in done.stderr
    assert done.returncode == 3


def test_a_process_whose_number_another_had_before(runs: Runs) -> None:
    processes = runs("sh", "-c", """echo '{"pid": 0, "parent": 0}' > $FAIRLOCK_STATS.$$""")
    assert sorted(process["pid"] > 0 for process in processes) == [False, True]


def test_files_that_may_not_grow_are_not_the_programs_end() -> None:
    done = run_with_stats("bash", "-c", "ulimit -f 0; exec sh -c 'exit 3'")
    assert "no statistics" in done.stderr
    assert done.returncode == 3


def test_a_symbol_without_a_size_names_nothing(tmp_path: Path) -> None:
    source, library = tmp_path / "unsized.s", tmp_path / "unsized.so"
    source.write_text(".globl _Z3fooii\n_Z3fooii: ret\n")
    processes.run(["cc", "-shared", "-nostdlib", source, "-o", library], check=True)
    printed = processes.run(["nm", "-C", library], check=True).stdout
    assert "T foo(int, int)" in printed
    assert symbols.names(str(library), [int(printed.split(" T foo")[0].split()[-1], 16)]) == {}
