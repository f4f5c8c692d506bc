# SPDX-License-Identifier: Apache-2.0
"""Helpers for the tests of `fairlock run`: call it, check its one-line errors, and compile small programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import processes
import pytest

ROOT = Path(__file__).resolve().parents[2]
FAIRLOCK = str(Path(sys.executable).with_name("fairlock"))

PRINT_LOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** words) {
  const char* lock = dlsym(RTLD_DEFAULT, "fairlock_preload_lock");
  const char* waiting = dlsym(RTLD_DEFAULT, "fairlock_preload_waiting");
  printf("%s %s", lock ? lock : "glibc", waiting ? waiting : "-");
  for (int i = 1; i < count; ++i) printf(" [%s]", words[i]);
  printf("\n");
  return 0;
}
"""

Result = processes.Result
Compile = Callable[..., Path]

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="`fairlock run` needs Linux and glibc")


def call(*words: str | Path, **options: Any) -> Result:
    return processes.run([str(word) for word in words], **options)


def run(*words: str | Path, **options: Any) -> Result:
    return call(FAIRLOCK, "run", *words, **options)


def output(done: Result) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def error_line(done: Result, status: int = 2) -> str:
    """Return the one-line error of a command that was refused."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("fairlock: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def compiler_in(folder: Path) -> Compile:
    """Return a function that compiles a program in a folder, once for each name."""

    def compile_program(
        name: str, *options: str, compiler: str = "cc", source: str = "int main(void) { return 0; }"
    ) -> Path:
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler}")
        file = folder / name
        if not file.exists():
            done = call(compiler, "-x", "c", "-", "-o", file, *options, input=source)
            if done.returncode:
                pytest.skip(f"{compiler} {' '.join(options)} does not work here: {done.stderr}")
        return file

    return compile_program


def copy_of_the_package(folder: Path) -> Path:
    shutil.copytree(
        ROOT / "fairlock", folder / "fairlock", ignore=shutil.ignore_patterns("*.so", "preload", "__pycache__")
    )
    return folder
