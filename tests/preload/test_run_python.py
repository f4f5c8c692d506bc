# SPDX-License-Identifier: Apache-2.0
"""fairlock run --python: in every Python of the command, threading has fairlock's types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from running import FAIRLOCK, Result, call, copy_of_the_package, error_line, linux_only, output, run, script

from fairlock import paths

pytestmark = linux_only


REPLACED = """
import ctypes, sys, threading
lock = ctypes.string_at(ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(None), "fairlock_preload_lock"))).decode()
print(lock, threading.Lock.__module__, sys.argv[1:])
"""

SPAWNING = """
import multiprocessing, threading
def show(): print(threading.Lock.__module__, flush=True)
if __name__ == "__main__":
    for how in ("spawn", "forkserver", "fork"):
        process = multiprocessing.get_context(how).Process(target=show)
        process.start()
        process.join()
"""

PATHS = "import sys; print(sys.path, sys.argv, sys.flags, 'sitecustomize' in sys.modules)"


def run_python(*words: str | Path, **options: Any) -> Result:
    """Run outside the clone, where the sources would hide the package."""
    return run("--python", "--lock", "twa", "--", *words, **{"cwd": "/", **options})


@pytest.fixture(scope="session")
def python_without_fairlock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of the same Python, without fairlock."""
    folder = tmp_path_factory.mktemp("another")
    assert call(sys.executable, "-m", "venv", "--without-pip", folder).returncode == 0
    return folder / "bin" / "python"


def test_python_changes_threading_only_on_request(tmp_path: Path) -> None:
    words = ["--", sys.executable, "-c", "import threading; print(threading.Lock.__module__)"]
    assert output(run(*words, cwd="/")) == "_thread"
    assert output(run("--python", *words, cwd="/")) == "fairlock"
    assert output(run("--python", "--lock", "glibc", *words, cwd="/")) == "fairlock"


def test_python_works_in_every_way_to_start_it(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(REPLACED)
    executable = script(tmp_path / "tool", f"#!{sys.executable} -u\n{REPLACED}")
    by_env = script(tmp_path / "by-env", f"#!/usr/bin/env python\n{REPLACED}")
    by_shell = script(tmp_path / "by-shell", f'#!/bin/sh\nexec {sys.executable} {file} "$@"\n')
    path = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    ways: list[list[str | Path]] = [
        [sys.executable, file],
        [sys.executable, "-W", "error", "-c", REPLACED],
        [sys.executable, "-m", "app"],
        ["python", file],
        [executable],
        [by_env],
        [by_shell],
        ["env", "A=1", by_env],
    ]
    for words in ways:
        assert output(run_python(*words, "-I", "x", cwd=tmp_path, env=path)) == "twa fairlock ['-I', 'x']"


def test_python_works_in_processes_that_it_starts(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(SPAWNING)
    assert output(run_python(sys.executable, file)).split() == ["fairlock"] * 3


def test_python_sees_the_same_paths_and_arguments(tmp_path: Path) -> None:
    file = tmp_path / "app.py"
    file.write_text(PATHS)
    for words in ([file], ["-P", file], ["-c", PATHS], ["-m", "app"]):
        for extra in ({}, {"PYTHONPATH": f"{tmp_path}:/no/where:"}):
            options = {"cwd": tmp_path, "env": {**os.environ, **extra}}
            plain = call(sys.executable, *words, "x", **options)
            ours = run_python(sys.executable, *words, "x", **options)
            assert output(ours).replace("True", "False") == output(plain).replace("True", "False")


def test_another_sitecustomize_still_runs(tmp_path: Path) -> None:
    other = tmp_path / "sitecustomize.py"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-c", "import sys, sitecustomize; print(sys.seen, getattr(sitecustomize, '__file__', ''))"]
    for text in ("", "import nonsense", "1 / 0"):
        other.write_text(f"import sys, threading\nsys.seen = threading.Lock.__module__\n{text}\n")
        plain, ours = call(*words, env=environment), run_python(*words, env=environment)
        assert ours.returncode == plain.returncode
        assert ours.stdout == plain.stdout.replace("_thread", "fairlock")
        assert ours.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]


def test_a_python_without_fairlock_borrows_the_commands(python_without_fairlock: Path) -> None:
    alone = call(python_without_fairlock, "-c", "import fairlock", cwd="/")
    assert "ModuleNotFoundError" in alone.stderr
    assert output(run_python(python_without_fairlock, "-c", REPLACED)) == "twa fairlock []"


def test_a_broken_fairlock_is_replaced_by_the_commands(python_without_fairlock: Path, tmp_path: Path) -> None:
    broken = tmp_path / "fairlock"
    broken.mkdir()
    (broken / "__init__.py").write_text("import fairlock.adopt\n")
    (broken / "adopt.py").touch()
    hook = paths.preload_dir().parent / "run" / "python_hook"
    words = "import fairlock, threading; print(threading.Lock.__module__, fairlock.__file__)"
    done = call(python_without_fairlock, "-c", words, env={**os.environ, "PYTHONPATH": f"{hook}:{tmp_path}"}, cwd="/")
    assert output(done) == f"fairlock {hook.parent.parent / '__init__.py'}"


def test_a_python_that_cannot_import_fairlock_is_refused(tmp_path: Path) -> None:
    python = script(tmp_path / "python9", "#!/bin/sh\necho 9.8.7\nexit 1\n")
    tool = script(tmp_path / "tool", f"#!{python}\n")
    for words in ([python, "app.py"], [tool], ["env", tool]):
        line = error_line(run_python(*words))
        assert f"{python} (Python 9.8.7)" in line
        assert "pip install fairlock" in line


def test_a_later_python_without_fairlock_still_runs(python_without_fairlock: Path, tmp_path: Path) -> None:
    # A package without the native module, as it looks to a Python of another version.
    folder = copy_of_the_package(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(folder / "fairlock" / "run" / "python_hook")}
    words = "import sys, threading; print(threading.Lock.__module__, 'fairlock' in sys.modules)"
    done = call(python_without_fairlock, "-c", words, env=environment, cwd="/")
    assert (done.returncode, done.stdout) == (0, "_thread False\n")
    assert done.stderr.startswith(f"fairlock: {python_without_fairlock} (Python ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options", [["-I"], ["-E"], ["-S"], ["-uES"], ["-X", "dev", "-Wignore", "-I"], ["-sI"]], ids=str
)
def test_options_that_make_python_ignore_the_hook_are_refused(options: list[str], tmp_path: Path) -> None:
    assert "leave out -" in error_line(run_python(sys.executable, *options, "-c", "print('half')"))
    if len(options) == 1:
        tool = script(tmp_path / "tool", f"#!{sys.executable} {options[0]}\nprint('half')\n")
        assert "leave out -" in error_line(run_python(tool))
    assert output(run(sys.executable, *options, "-c", "print('whole')")) == "whole"


def test_such_options_are_refused_behind_env_or_another_name(tmp_path: Path) -> None:
    snake = tmp_path / "snake"
    snake.symlink_to(sys.executable)
    for words in (["env", "-u", "X", "--", "A=1", sys.executable], ["env", "--unset=X", sys.executable], [snake]):
        assert "leave out -I" in error_line(run_python(*words, "-I", "-c", "print('half')"))


@pytest.mark.parametrize(
    "words", [["-cpass"], ["-c", "pass", "-I"], ["-XI", "-c", "pass"], ["-", "-I"], ["-um", "this", "-S"]], ids=str
)
def test_similar_options_are_not_refused(words: list[str]) -> None:
    assert run_python(sys.executable, *words, stdin=subprocess.DEVNULL).returncode == 0


def test_the_inner_of_nested_runs_decides_about_python() -> None:
    ask = [sys.executable, "-c", "import os, threading; print(threading.Lock.__module__, os.getenv('PYTHONPATH'))"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    inner = run_python(FAIRLOCK, "run", "--", *ask, env=environment)
    assert output(inner) == "_thread None"
    both = run_python(FAIRLOCK, "run", "--python", "--", *ask, env={**environment, "PYTHONPATH": "/no/where"})
    kind, path = output(both).split()
    assert kind == "fairlock"
    assert [Path(folder).name for folder in path.split(":")] == ["python_hook", "where"]


def test_print_with_python() -> None:
    line = output(run("--python", "--print", "--", sys.executable, "-c", REPLACED, cwd="/"))
    assert output(call("sh", "-c", line, cwd="/")) == "fair fairlock []"
