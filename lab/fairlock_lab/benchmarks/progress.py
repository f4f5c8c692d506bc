# SPDX-License-Identifier: Apache-2.0
"""Progress of a benchmark: the argument of callbacks, and a callback that shows it on a terminal or in a log."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

LOG_INTERVAL = 10.0  # seconds between the lines of a log


@dataclass(frozen=True)
class BenchProgress:
    """How far a benchmark is. Callbacks get it before each sample, and once after the last one."""

    workload: str
    point: str | None  # the point that is measured now; None: all samples are taken
    done: int  # samples
    samples: int  # to take, in all
    done_seconds: float  # planned for the samples that are done
    seconds: float  # planned for all samples
    began: float = field(repr=False)  # by time.monotonic()

    @classmethod
    def start(cls, workload: str, samples: int, seconds: float) -> BenchProgress:
        return cls(workload, None, 0, samples, 0.0, seconds, time.monotonic())

    def at(self, point: str | None) -> BenchProgress:
        return replace(self, point=point)

    def after(self, seconds: float) -> BenchProgress:
        """Return the progress after one more sample, which was planned to take this many seconds."""
        return replace(self, done=self.done + 1, done_seconds=self.done_seconds + seconds)

    @property
    def seconds_left(self) -> float:
        """The planned seconds that are left, corrected by how much longer the samples have taken so far."""
        factor = (time.monotonic() - self.began) / self.done_seconds if self.done_seconds else 1.0
        return (self.seconds - self.done_seconds) * factor


Callback = Callable[[BenchProgress], None]


class TerminalProgress:
    """A callback that shows a bar on a terminal, or prints occasional lines. Leaving its context clears the bar."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.bar: Any = None
        self.begun = False
        self.printed = -LOG_INTERVAL

    def __enter__(self) -> TerminalProgress:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()
        elif self.live and self.begun:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def __call__(self, progress: BenchProgress) -> None:
        if not self.begun:
            self.begin(progress)
        if progress.point is None:
            return
        text = f"[{progress.done + 1}/{progress.samples}] {progress.point}"
        left = clock(progress.seconds_left)
        if self.bar is not None:
            task = self.bar.task_ids[0]
            self.bar.update(task, description=text, completed=progress.done_seconds, left=left, refresh=True)
        elif self.live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + f"{text}; {left} left"[:width])
            sys.stderr.flush()
        elif time.monotonic() - self.printed >= LOG_INTERVAL:
            self.printed = time.monotonic()
            print(f"{text}; {left} left", file=sys.stderr, flush=True)

    def begin(self, progress: BenchProgress) -> None:
        self.begun = True
        print(
            f"{progress.workload}: {progress.samples} samples, about {clock(progress.seconds)}",
            file=sys.stderr,
            flush=True,
        )
        self.bar = rich_bar(progress.seconds) if self.live else None
        if self.bar is not None:
            self.bar.start()


def clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def rich_bar(seconds: float) -> Any:
    """Return a progress bar of rich, or None if rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    except ImportError:
        return None
    bar = Progress(
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]} left"),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,  # redrawing during a sample would take processor time from it
    )
    bar.add_task("", total=seconds, left=clock(seconds))
    return bar
