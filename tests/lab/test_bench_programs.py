# SPDX-License-Identifier: Apache-2.0
"""Workloads whose lock is inside a library or a program: each runs, and an error names what is missing."""

from __future__ import annotations

import json
from pathlib import Path

from program_support import bench, check_metrics, needs_leveldb, needs_libatomic, needs_rocksdb, samples


def test_bench_throw(tmp_path: Path) -> None:
    measured = samples(tmp_path, "throw", "--seconds", "0.1")
    assert len(measured) == 2  # both configs
    for sample in measured:
        check_metrics(sample)


@needs_libatomic
def test_bench_atomic_exchange(tmp_path: Path) -> None:
    (sample,) = samples(tmp_path, "atomic-exchange", "--seconds", "0.1")
    check_metrics(sample)


@needs_leveldb
def test_bench_leveldb(tmp_path: Path) -> None:
    (sample,) = samples(tmp_path, "leveldb", "--seconds", "0.1", "--set", "entries=2000")
    check_metrics(sample)


@needs_leveldb
def test_a_database_that_the_user_names_stays(tmp_path: Path) -> None:
    words = ["leveldb", "--locks", "glibc", "--seconds", "0.1", "--threads", "1", "--runs", "1"]
    words += ["--set", "entries=500", "--set", "db=kept"]
    assert bench(tmp_path, *words).returncode == 0
    assert (tmp_path / "kept" / "CURRENT").exists()
    assert not (tmp_path / "kept.part").exists()
    assert bench(tmp_path, *words).returncode == 0


@needs_rocksdb
def test_bench_rocksdb(tmp_path: Path) -> None:
    configs = ("--config", "readwhilewriting,from-empty")
    full, empty = sorted(
        samples(tmp_path, "rocksdb", *configs, "--seconds", "1", "--set", "entries=20000"),
        key=lambda sample: "use_existing_db" not in sample["program"],
    )
    assert full["found"] == 1
    assert full["elapsed"] >= 1
    assert full["throughput"] > 0
    assert empty["throughput"] > 0
    assert "--cache_numshardbits=0" in full["program"]  # as in the paper


def test_a_missing_leveldb_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    done = bench(tmp_path, "leveldb", "--set", "library=libnone.so", "--json", "r.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("no library libnone.so: apt-get install libleveldb1d\n")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_missing_db_bench_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    done = bench(tmp_path, "rocksdb", "--json", "r.json", PATH="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "fairlock: workload rocksdb: no program db_bench in PATH: apt-get install rocksdb-tools\n"
    assert not list(tmp_path.iterdir())


def test_a_db_bench_of_another_database_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "db_bench"
    other.write_text("#!/bin/sh\necho 'Invalid flag'\nexit 1\n")
    other.chmod(0o755)
    done = bench(tmp_path, "rocksdb", PATH=str(tmp_path))
    assert done.returncode == 2
    assert "is not RocksDB's" in done.stderr


def test_flags_that_a_db_bench_does_not_have_are_left_out_and_noted(tmp_path: Path) -> None:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    other = bin_folder / "db_bench"
    known = "benchmarks threads duration num seed compression_type mmap_read cache_size sync db use_existing_db"
    other.write_text(
        f"""#!/bin/sh
case "$*" in
--help) echo "readwhilewriting"; for flag in {known}; do echo "    -$flag (words) type: int32"; done; exit 1;;
*mmap_write*|*verify_checksum*) echo "ERROR: unknown command line flag" >&2; exit 1;;
*fillseq*) exec mkdir "$(echo "$*" | sed 's/.*--db=//; s/ .*//')";;
*) echo "readwhilewriting :  3.5 micros/op 285714 ops/sec; 1.0 MB/s (5 of 10 found)";;
esac
"""
    )
    other.chmod(0o755)
    done = bench(
        tmp_path,
        *("rocksdb", "--locks", "glibc", "--threads", "2", "--runs", "1", "--seconds", "1", "--json", "r.json"),
        PATH=f"{bin_folder}:/usr/bin:/bin",
    )
    assert done.returncode == 0, done.stderr
    (sample,) = json.loads((tmp_path / "r.json").read_text())["samples"]
    assert sample["metrics"]["throughput"] == 285714  # an older version prints no more than that
    assert sample["metrics"]["found"] == 0.5
    assert "cache_numshardbits, mmap_write, verify_checksum" in ", ".join(
        sorted(sample["metrics"]["note"].split(" has no ")[1].removesuffix(": left out").split(", "))
    )


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    for words in (
        ("throw", "--locks", "twaa"),
        ("throw", "--waiting", "sleep"),
        ("rocksdb", "--pin"),
        ("throw", "--set", "entries=3"),
    ):
        done = bench(tmp_path, *words, "--seconds", "0.1", "--runs", "1", "--threads", "1")
        assert done.returncode == 2, words
        assert "Traceback" not in done.stderr
