# SPDX-License-Identifier: Apache-2.0
"""The progress of a benchmark: what a callback gets, and what a terminal shows."""

from __future__ import annotations

import sys

import pytest

from fairlock_lab.benchmarks import progress


@pytest.mark.parametrize("rich", [True, False])
def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, rich: bool) -> None:
    if rich:
        pytest.importorskip("rich")
    else:
        monkeypatch.setitem(sys.modules, "rich.console", None)
    written: list[str] = []

    class Terminal:
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

        def write(self, text: str) -> int:
            written.append(text)
            return len(text)

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    steps = progress.BenchProgress.start("mutex", 2, 4.0)
    with progress.TerminalProgress() as shown:
        shown(steps.at("mutex maximum: twa"))
        assert (shown.bar is not None) == rich
        steps = steps.after(2.0)
        shown(steps.at("mutex maximum: mcs"))
        shown(steps.after(2.0).at(None))
    text = "".join(written)
    assert "[2/2] mutex maximum: mcs" in text
    assert "left" in text


def test_progress_counts_samples_and_seconds() -> None:
    steps = progress.BenchProgress.start("mutex", 2, 4.0)
    assert (steps.done, steps.samples, steps.done_seconds, steps.seconds_left) == (0, 2, 0.0, 4.0)
    steps = steps.after(4.0)
    assert (steps.done, steps.done_seconds, steps.seconds_left) == (1, 4.0, 0.0)
