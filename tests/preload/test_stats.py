# SPDX-License-Identifier: Apache-2.0
"""The statistics of a program's mutexes: the counts are right, and the program does not notice."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import processes
import pytest
from counted_programs import SOURCES, Build, Document, builder_in, object_named

from fairlock import paths
from fairlock.run import lock_statistics, preload, symbols

LOCKS = [preload.GLIBC, "twa", "fair", "hapax-vw"]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return builder_in(tmp_path_factory.mktemp("stats"))


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
        documents = [json.loads(file.read_text()) for file in self.folder.iterdir()]
        numbers = {process["pid"] for process in documents}
        return sorted(documents, key=lambda process: process["parent"] not in numbers)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "processes")


@pytest.fixture(params=LOCKS)
def lock(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_acquisition_is_counted_for_its_thread(build: Build, runs: Runs, lock: str) -> None:
    (process,) = runs(build("counts"), lock=lock)
    counted = object_named(process, "counted")
    assert sorted(entry["acquisitions"] for entry in counted["by_thread"]) == [100, 200, 300, 400, 500]
    assert counted["acquisitions"] == 1500
    assert counted["threads"] == 5
    permits = object_named(process, "permits")
    assert permits["kind"] == "semaphore"
    assert sorted(entry["acquisitions"] for entry in permits["by_thread"]) == [100, 200, 300, 400, 500]
    # A thread that waits on a condition takes its mutex at least once more.
    meeting = object_named(process, "meeting")
    assert min(entry["acquisitions"] for entry in meeting["by_thread"]) == 1
    assert sum(entry["acquisitions"] >= 2 for entry in meeting["by_thread"]) == 4


@pytest.mark.parametrize("option", ["-pie", "-no-pie", "-rdynamic"])
def test_contention_names_the_mutex_and_the_function(build: Build, runs: Runs, option: str) -> None:
    (process,) = runs(build("contended", option))
    ledger = object_named(process, "ledger")
    assert process["objects"][0]["symbol"] in ("ledger", "pool+0x8")  # by waiting time
    (site,) = ledger["call_sites"]
    assert site["symbol"] == "deposit"
    source = (SOURCES / "contended.c").read_text().splitlines()
    assert "pthread_mutex_lock(&ledger)" in source[site["frames"][0]["line"] - 1]
    (site,) = object_named(process, "pool+0x8")["call_sites"]
    assert site["symbol"] == "take"


def test_an_exported_symbol_has_a_name_without_tools(
    build: Build, runs: Runs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (process,) = runs(build("contended", "-rdynamic"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert object_named(process, "calm")["acquisitions"] == 1
    (unknown,) = [entry for entry in process["objects"] if entry["symbol"] is None]
    assert lock_statistics.describe(unknown) == f"contended-rdynamic+{unknown['offset']}"


def test_a_stripped_program_gets_no_wrong_names(build: Build, runs: Runs) -> None:
    (process,) = runs(build("contended", "-s"))
    lock_statistics.resolve([process])
    assert [entry["symbol"] for entry in process["objects"]] == [None] * 3
    for site in (site for entry in process["objects"] for site in entry["call_sites"]):
        assert lock_statistics.describe(site) == f"contended-s+{site['offset']}"


def test_waits_are_counted(build: Build, runs: Runs, lock: str) -> None:
    (process,) = runs(build("contended"), "3", lock=lock)
    ledger, pool, calm = (object_named(process, name) for name in ("ledger", "pool+0x8", "calm"))
    assert (ledger["acquisitions"], ledger["contended"], ledger["abandoned"]) == (6, 3, 0)
    assert (pool["acquisitions"], pool["contended"]) == (3, 3)
    assert (calm["acquisitions"], calm["contended"], calm["waited_ns"], calm["fairness"]) == (3, 0, 0, None)
    assert sum(entry["contended"] for entry in ledger["by_thread"]) == 3
    assert 0 < ledger["longest_ns"] <= ledger["waited_ns"]
    assert ledger["fairness"] == {"threads": 3, "smallest": 1, "largest": 1, "jain": 1.0}
    if lock == preload.GLIBC:
        assert ledger["parks"] is ledger["hand_overs"] is process["waiting"] is None
    else:
        assert ledger["hand_overs"] == pool["hand_overs"] == 3
        assert ledger["parks"] >= 3
        assert process["waiting"] == preload.DEFAULT_WAITING
    assert process["lock"] == lock


def test_a_program_sees_no_difference(build: Build, runs: Runs, lock: str) -> None:
    program = build("outcomes")
    environment = preload.environment(lock)
    plain = processes.run([program], env=environment, check=True)
    (process,) = runs(program, lock=lock)
    assert runs.output == plain.stdout
    assert plain.stdout.count("\n") == 50
    # Only the threads that gave up waited for a mutex. Three other waits also time out: one on a condition, one for a
    # semaphore, and one on a clock that not every mutex supports, for which the statistics try no lock first.
    mutexes = [entry for entry in process["objects"] if entry["kind"] == "mutex"]
    assert sum(entry["abandoned"] for entry in mutexes) == plain.stdout.count("ETIMEDOUT") - 3
    assert sum(entry["contended"] for entry in mutexes) == 0
    assert all(entry["longest_ns"] > 10_000_000 for entry in mutexes if entry["abandoned"])


def test_a_full_table_counts_what_it_misses(build: Build, runs: Runs) -> None:
    (process,) = runs(build("many"), "mutexes")
    assert process["uncounted"] > 0
    assert process["acquisitions"] + process["uncounted"] == 100_000
    assert process["acquisitions"] > 60_000
    assert len(process["objects"]) == 200
    assert process["left_out"] == process["acquisitions"] - 200


def test_ten_thousand_threads(build: Build, runs: Runs, lock: str) -> None:
    (process,) = runs(build("many"), lock=lock)
    counted = object_named(process, "counted")
    assert (counted["threads"], counted["acquisitions"], process["uncounted"]) == (10_000, 10_000, 0)
    assert len({entry["thread"] for entry in counted["by_thread"]}) == 10_000


def test_the_child_of_a_fork_has_its_own_counts(build: Build, runs: Runs, lock: str) -> None:
    child, parent = runs(build("forks"), lock=lock)  # the child of vfork writes no document
    assert child["parent"] == parent["pid"]
    assert [entry["acquisitions"] for entry in object_named(parent, "counted")["by_thread"]] == [6, 1]
    assert [entry["acquisitions"] for entry in object_named(child, "counted")["by_thread"]] == [4, 1]


@pytest.mark.parametrize("how", ["return", "exit", "_exit", "_Exit", "quick_exit", "thread", "cancelled"])
def test_every_orderly_end_leaves_a_document(build: Build, runs: Runs, how: str) -> None:
    (process,) = runs(build("exits"), how)
    assert runs.status == 3
    assert object_named(process, "counted")["acquisitions"] == 1


def test_a_killed_program_leaves_no_document(build: Build, runs: Runs) -> None:
    assert runs(build("exits"), "kill") == []
    assert runs.status == -signal.SIGKILL


def test_a_program_without_mutexes(runs: Runs) -> None:
    (process,) = runs(str(shutil.which("true")), "an argument", 'and "\\\n')
    assert process["command"][1:] == ["an argument", 'and "\\\n']
    assert (process["acquisitions"], process["objects"]) == (0, [])


def test_constructors_and_malloc_may_lock_first(build: Build, runs: Runs, lock: str) -> None:
    library = build("early", "-shared", "-fPIC")
    (process,) = runs(build("contended"), lock=lock, LD_PRELOAD=str(library))
    assert object_named(process, "early")["acquisitions"] == 1
    assert object_named(process, "heap")["acquisitions"] >= 1
    assert object_named(process, "ledger")["contended"] == 1


def test_a_constructor_may_wait_for_a_thread_that_locks(build: Build, runs: Runs, lock: str) -> None:
    """The constructor's thread holds the loader's lock meanwhile: a thread that looked up a function would hang."""
    library = build("waiting_constructor", "-shared", "-fPIC")
    (process,) = runs(build("opens"), library, lock=lock)
    assert object_named(process, "counted")["acquisitions"] == 1


def test_a_document_has_these_parts(build: Build, runs: Runs) -> None:
    (process,) = runs(build("contended"))
    assert (process["format"], process["version"]) == (lock_statistics.FORMAT, lock_statistics.VERSION)
    waits = {"contended", "abandoned", "waited_ns", "longest_ns", "parks", "hand_overs"}
    place = {"address", "module", "offset", "symbol"}
    totals = {"format", "version", "pid", "parent", "command", "lock", "waiting", "threads", "uncounted", "left_out"}
    assert process.keys() == totals | waits | {"acquisitions", "objects"}
    for entry in process["objects"]:
        own = {"kind", "acquisitions", "call_sites", "by_thread", "threads", "fairness"}
        assert entry.keys() == own | waits | place
        assert entry["kind"] in ("mutex", "semaphore")
        assert all(site.keys() == waits | place for site in entry["call_sites"])
        assert all(thread.keys() == {"thread", "acquisitions", "contended"} for thread in entry["by_thread"])
        for sums, parts in ((entry, entry["by_thread"]), (entry, entry["call_sites"]), (process, process["objects"])):
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


def test_without_statistics_nothing_is_preloaded_for_them() -> None:
    for lock in LOCKS:
        assert "stats.so" not in preload.environment(lock, base={}).get("LD_PRELOAD", "")
    assert paths.preload_dir() / "stats.so" == lock_statistics.library()


def test_two_processes_with_the_same_number_leave_two_documents(runs: Runs) -> None:
    processes = runs("sh", "-c", """echo '{"pid": 0, "parent": 0}' > $FAIRLOCK_STATS.$$""")
    assert sorted(process["pid"] > 0 for process in processes) == [False, True]


def test_a_symbol_without_a_size_names_nothing(tmp_path: Path) -> None:
    source, library = tmp_path / "unsized.s", tmp_path / "unsized.so"
    source.write_text(".globl _Z3fooii\n_Z3fooii: ret\n")
    processes.run(["cc", "-shared", "-nostdlib", source, "-o", library], check=True)
    printed = processes.run(["nm", "-C", library], check=True).stdout
    assert "T foo(int, int)" in printed
    assert symbols.names(str(library), [int(printed.split(" T foo")[0].split()[-1], 16)]) == {}
