# SPDX-License-Identifier: Apache-2.0
"""What the tests of the benchmarks share: the installed command, with arguments that make it short."""

from __future__ import annotations

import sys
from pathlib import Path

import processes

PROGRAM = Path(sys.executable).with_name("fairlock")
ONCE = ("--seconds=0.02", "--runs=1", "--no-references")
QUICK = (*ONCE, "--threads=2")


def bench(*arguments: str, cwd: Path) -> processes.Result:
    """Call the installed `fairlock bench` in a folder, and return the finished process."""
    return processes.run([PROGRAM, "bench", *arguments], cwd=cwd, timeout=300)


def succeed(done: processes.Result) -> processes.Result:
    assert done.returncode == 0, done.stderr
    return done
