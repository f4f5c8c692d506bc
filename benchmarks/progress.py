"""A line on stderr that says how far things are."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """A line that is overwritten; silent where stderr is not a terminal."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + text[:width])
            sys.stderr.flush()

    def clear(self) -> None:
        self.show("")

    @contextmanager
    def ticking(self, text: str) -> Iterator[None]:
        """Show the text with the seconds passed until the block ends."""
        done = threading.Event()

        def tick() -> None:
            begin = time.monotonic()
            while True:
                self.show(f"{text} ({time.monotonic() - begin:.0f} s)")
                if done.wait(0.5):
                    return

        ticker = threading.Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            done.set()
            ticker.join()
            self.clear()
