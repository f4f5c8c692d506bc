# SPDX-License-Identifier: Apache-2.0
"""`python -m fairlock` runs a program like Python: each test runs it both ways, and compares."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import Python

SCRIPT = """
import sys, threading
def main(how):
    print(sys.argv, sys.path[0], __name__, __file__, __spec__ and __spec__.name, __package__)
    assert vars(sys.modules["__main__"]) is globals()
    if how == "raise":
        raise ValueError("wrong")
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "status":
        sys.exit(7)
    if how == "message":
        sys.exit("last words")
    if how == "hook":
        sys.excepthook = lambda kind, value, trace: print("hook", value, trace.tb_frame.f_code.co_filename)
        raise ValueError("wrong")
main(sys.argv[1])
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "some where"
    folder.mkdir()
    (folder / "script.py").write_text(SCRIPT)
    (folder / "syntax.py").write_text("def :\n")
    (folder / "__main__.py").write_text(SCRIPT)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "module.py").write_text(SCRIPT)
    return folder


ENDINGS = ["end", "raise", "interrupt", "status", "message", "hook"]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("what", [["some where/script.py"], ["-m", "package.module"], ["some where"]], ids=str)
def test_a_program_runs_as_under_python(what: list[str], ending: str, python: Python, programs: Path) -> None:
    plain = python(*what, ending, "-x", "--version")
    with_fairlock = python("-m", "fairlock", *what, ending, "-x", "--version")
    assert with_fairlock.returncode == plain.returncode
    assert with_fairlock.stdout == plain.stdout
    assert with_fairlock.stderr == plain.stderr


@pytest.mark.parametrize("flag", [[], ["-P"]], ids=str)
@pytest.mark.parametrize(
    "what",
    [
        ["-c", "import sys; print(sys.argv, sys.path, sorted(globals().keys() - {'__annotations__'}))", "-c", "x"],
        ["-c", "1 / 0"],
        ["-c", "def :"],
        ["-c", "def f() -> unknown: ..."],
        ["-m", "no.such.module"],
        ["some where/syntax.py"],
        ["package"],  # has no __main__.py
    ],
    ids=str,
)
def test_code_and_errors_are_handled_as_by_python(
    flag: list[str], what: list[str], python: Python, programs: Path
) -> None:
    plain = python(*flag, *what)
    with_fairlock = python(*flag, "-m", "fairlock", *what)
    assert with_fairlock.returncode == plain.returncode
    assert with_fairlock.stdout == plain.stdout
    # From 3.13 on, Python also shows the lines of -c.
    assert with_fairlock.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]
    assert "fairlock" not in with_fairlock.stderr.replace(sys.executable, "")


@pytest.mark.parametrize("how", ["file", "-m", "-c"])
def test_threading_creates_fairlocks_types(how: str, python: Python, tmp_path: Path) -> None:
    code = "import threading; print(type(threading.Lock()))"
    (tmp_path / "locks.py").write_text(code)
    what = {"file": ["locks.py"], "-m": ["-m", "locks"], "-c": ["-c", code]}[how]
    assert python("-m", "fairlock", *what).stdout == "<class 'fairlock.Lock'>\n"


def test_the_main_module_stays_for_threads_that_the_program_left_running(python: Python, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import pickle, threading
def later():
    threading.main_thread().join()
    print(pickle.loads(pickle.dumps(later)) is later)
threading.Thread(target=later).start()
""")
    assert python("-m", "fairlock", "script.py").stdout == "True\n"


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_pool_imports_the_program(method: str, python: Python, tmp_path: Path) -> None:
    (tmp_path / "pool.py").write_text("""
import multiprocessing, sys
def double(x): return 2 * x
if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(double, range(4)))
""")
    done = python("-m", "fairlock", "pool.py", method)
    assert done.stdout == "[0, 2, 4, 6]\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["no-such-thing"], "list"),
        (["no-such-file.py"], "path"),
        (["-m"], "MODULE"),
        (["-c"], "CODE"),
    ],
    ids=str,
)
def test_a_usage_error_is_one_line_that_says_what_would_be_right(
    arguments: list[str], hint: str, python: Python
) -> None:
    done = python("-m", "fairlock", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("fairlock: ")
    assert done.stderr.count("\n") == 1
    assert hint in done.stderr


def test_a_command_wins_over_a_file_of_its_name(python: Python, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("print('the file')")
    assert "the file" not in python("-m", "fairlock", "list").stdout
    assert python("-m", "fairlock", "./list").stdout == "the file\n"


def test_options_that_print_version_and_paths(python: Python) -> None:
    assert python("-m", "fairlock", "--version").stdout.startswith("fairlock ")
    for option in ("--include", "--cmake-dir"):
        assert Path(python("-m", "fairlock", option).stdout.strip()).is_dir()
