# SPDX-License-Identifier: Apache-2.0
"""The families of ``fairlock_bench`` whose lock is inside a library: their samples, and their errors."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import processes
import pytest
from program_support import BENCH, WINDOW, check_metrics, error_line, metrics, needs_leveldb, needs_libatomic


def test_throw_counts_the_mutexes_of_the_run_time_library() -> None:
    sample = metrics("throw", *WINDOW)
    check_metrics(sample)
    assert isinstance(sample["mutexes_per_episode"], int | float)
    assert sample["decidable"] == (sample["mutexes_per_episode"] > 0)
    assert sample["decidable"] or "no mutex" in sample["reason"]


def test_throw_with_registered_frames_takes_at_least_as_many_mutexes() -> None:
    plain, registered = metrics("throw", *WINDOW), metrics("throw", "--registered-frames", *WINDOW)
    check_metrics(registered)
    assert registered["mutexes_per_episode"] >= plain["mutexes_per_episode"]


@needs_libatomic
def test_atomic_exchange_takes_one_mutex_and_loses_nothing() -> None:
    sample = metrics("atomic-exchange", *WINDOW)
    check_metrics(sample)
    assert sample["exclusion"] == "witnessed"  # or the program would have failed
    assert (sample["mutexes_per_episode"], sample["decidable"]) == (1, True)


@needs_libatomic
def test_atomic_exchange_notices_a_mutex_that_does_not_exclude(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    source, library = tmp_path / "open.cpp", tmp_path / "open.so"
    # Only the mutexes of libraries fail to exclude; those on the stack of the program work.
    source.write_text(
        """#include <dlfcn.h>
        #include <pthread.h>
        static bool open(pthread_mutex_t* mutex) {
          static thread_local pthread_mutex_t* known = nullptr;
          Dl_info info;
          if (mutex != known && dladdr(mutex, &info) != 0) known = mutex;
          return mutex == known;
        }
        template <class F> static F next(const char* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }
        extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
          static const auto lock = next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
          return open(mutex) ? 0 : lock(mutex);
        }
        extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) {
          static const auto unlock = next<int (*)(pthread_mutex_t*)>("pthread_mutex_unlock");
          return open(mutex) ? 0 : unlock(mutex);
        }
        """
    )
    processes.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = processes.run(
        [BENCH, "atomic-exchange", "--threads", "4", "--seconds", "0.5", "--non-critical", "0"],
        env={**os.environ, "LD_PRELOAD": str(library)},
    )
    assert done.returncode == 1
    assert "two exchanges overlapped" in done.stderr


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("leveldb") / "db"
    assert metrics("leveldb", "--fill", "--db", folder, "--entries", "2000")["entries"] == 2000
    return folder


@needs_leveldb
def test_leveldb_reads_a_filled_database(database: Path) -> None:
    sample = metrics("leveldb", "--db", database, "--entries", "2000", *WINDOW)
    check_metrics(sample)
    assert sample["mutexes_per_episode"] >= 2  # those of the database alone
    assert sample["decidable"]


@needs_leveldb
def test_leveldb_does_not_fill_an_existing_database(database: Path) -> None:
    assert "exists" in error_line("leveldb", "--fill", "--db", database)


@needs_leveldb
def test_leveldb_reports_what_is_wrong_with_a_database(database: Path, tmp_path: Path) -> None:
    assert "--fill creates a database" in error_line("leveldb", "--db", tmp_path / "none")
    assert "has fewer than 2001 entries" in error_line("leveldb", "--db", database, "--entries", "2001")
    assert "--db FOLDER" in error_line("leveldb")


def test_a_missing_leveldb_names_the_package() -> None:
    line = error_line("leveldb", "--library", "libnone.so", "--db", "somewhere")
    assert line == "fairlock_bench: leveldb: no library libnone.so: apt-get install libleveldb1d\n"


@pytest.mark.parametrize("family", ["throw", "leveldb"])
def test_these_families_have_no_choice_of_lock(family: str) -> None:
    assert "has no option '--lock'" in error_line(family, "--lock", "twa")
