# SPDX-License-Identifier: Apache-2.0
"""Every example is short, runs, and prints what it promises."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path

import processes
import pytest
from conftest import Python

from fairlock.paths import include_dir

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SOURCES = sorted(path for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".c", ".cpp"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_an_example_is_short_enough_to_copy(source: Path) -> None:
    lines = source.read_text().splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 120


def run(python: Python, name: str) -> str:
    done = python(EXAMPLES / name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_python_example_is_tested() -> None:
    text = Path(__file__).read_text()
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in text] == []


def test_the_download_limiter_keeps_its_limit(python: Python) -> None:
    output = run(python, "download_limiter.py")
    assert "24 pages, 24000 bytes, with 12 threads" in output
    match = re.search(r"at most (\d+) requests at once", output)
    assert match is not None
    assert 1 <= int(match[1]) <= 4
    match = re.search(r"longest wait for a permit took (\d+\.\d\d) s", output)
    assert match is not None
    assert float(match[1]) >= 0.04  # the other threads had to wait for a page, which takes 0.05 s


def test_the_connection_pool_loses_no_order(python: Python) -> None:
    output = run(python, "connection_pool.py")
    assert "8 threads stored 200 orders over 3 connections" in output
    match = re.search(r"waited (\d+) times", output)
    assert match is not None
    assert int(match[1]) > 0


def test_install_feeds_the_starving_thread(python: Python) -> None:
    output = run(python, "starving_thread.py")
    before, after = (float(share) for share in re.findall(r"a share of (\d\.\d\d)", output))
    assert output.index("threading ") < output.index("fairlock.install()")
    assert after > before


def test_the_dump_names_the_deadlocked_threads(python: Python) -> None:
    output = run(python, "deadlock.py")
    deadlock = output.partition("deadlock:\n")[2].partition("stack of")[0]
    for waiter, holder in (("payer", "auditor"), ("auditor", "payer")):
        assert re.search(rf"{waiter} \[\d+\] waits for .*, held by {holder} \[\d+\]", deadlock)
    assert "with second:" in output  # the stacks show the line


@pytest.mark.slow
def test_the_cpp_queue_loses_no_item(tmp_path: Path) -> None:
    program = tmp_path / "queue"
    compiler = os.environ.get("CXX", "c++")
    options = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{include_dir()}"]
    processes.run([compiler, *options, EXAMPLES / "cpp" / "queue.cpp", "-o", program], timeout=300, check=True)
    done = processes.run([program], check=True)
    assert done.stdout == "4 consumers took items worth 200020000 of 200020000\n"


USE_THE_EXTENSION = """
import threading, account, fairlock
lock = fairlock.Lock()
threads = [threading.Thread(target=account.deposit, args=(lock, 50_000)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(account.balance(lock))
"""


def test_the_extension_counts_every_coin(tmp_path: Path, python: Python) -> None:
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{include_dir()}"]
    source = EXAMPLES / "extension" / "account.c"
    compiler = os.environ.get("CC", "cc")
    processes.run([compiler, "-O2", "-shared", "-fPIC", *includes, source, "-o", tmp_path / "account.so"], check=True)
    done = python("-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}){USE_THE_EXTENSION}")
    assert done.stdout == "200000\n", done.stderr
