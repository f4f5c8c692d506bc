# SPDX-License-Identifier: Apache-2.0
"""How far a benchmark is, and how much time is left: with rich on a terminal, else in plain lines."""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import TracebackType
from typing import Any

EVERY = 10.0  # seconds between plain lines


class Progress:
    """Counts seconds of work. Used as a context. Where nobody looks, a line now and then goes to the log."""

    def __init__(self, samples: int, work: float) -> None:
        self.samples, self.work = samples, work
        self.done, self.worked = 0, 0.0
        self.begin = time.monotonic()
        self.shown = -EVERY
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.bar = rich_bar(work) if self.live else None

    def __enter__(self) -> Progress:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()
        elif self.live:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def starts(self, what: str) -> None:
        """Say what is measured now."""
        text = f"[{self.done + 1}/{self.samples}] {what}"
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], description=text, left=clock(self.left()), refresh=True)
        elif self.live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + f"{text}; {clock(self.left())} left"[:width])
            sys.stderr.flush()
        elif time.monotonic() - self.shown >= EVERY:
            self.shown = time.monotonic()
            print(f"{text}; {clock(self.left())} left", file=sys.stderr, flush=True)

    def ends(self, work: float) -> None:
        self.done += 1
        self.worked += work
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=self.worked, left=clock(self.left()))

    def left(self) -> float:
        """Return the seconds left: what is planned, and what starting and ending a process adds to it so far."""
        factor = (time.monotonic() - self.begin) / self.worked if self.worked else 1.0
        return (self.work - self.worked) * factor


def clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def rich_bar(work: float) -> Any:
    """Return a bar of rich's, or None where rich is not installed."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn
        from rich.progress import Progress as Bar
    except ImportError:
        return None
    bar = Bar(
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]} left"),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,  # drawing takes processor time, and while a sample runs that is not ours
    )
    bar.add_task("", total=work, left=clock(work))
    return bar
