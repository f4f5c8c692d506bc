# SPDX-License-Identifier: Apache-2.0
"""How much of the processors' time others took while a program of ours ran; as ``benchmarks/other_work.hpp``.

The marks and notes with which a table reports it are here, too.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from fairlock_lab.benchmarks.figures import MOST_OTHER_WORK, Table, calm

DISTURBED = "!"  # marks a row that other work disturbed in every run


class OtherWork:
    """From now on."""

    def __init__(self) -> None:
        self._began, self._before = time.monotonic(), busy() - ours()

    def share(self) -> float:
        """Return the share of all processors' time since then. Whatever we started has ended."""
        spent = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return min(1.0, max(0.0, (busy() - ours() - self._before) / spent))


def busy() -> float:
    """Return for how many seconds the processors were busy since the machine started."""
    try:
        first = Path("/proc/stat").read_text().partition("\n")[0]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, irq, soft, stolen = map(int, first.split()[1:9])
    return (user + nice + system + irq + soft + stolen) / os.sysconf("SC_CLK_TCK")


def ours() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def disturbance(samples: Table) -> list[str]:
    """Return lines that say how many samples other work disturbed; no lines if it disturbed none."""
    every = samples.results.samples
    disturbed = sum(not calm(sample) for sample in every)
    if not disturbed:
        return []
    marked = any(samples.disturbed(i) for i in range(len(samples.points)))
    share = f"{100 * MOST_OTHER_WORK:.0f} % of the processors"
    return [
        f"Other work took more than {share} in {disturbed} of {len(every)} samples. They do not count,",
        f"unless there are no others{f' ({DISTURBED})' if marked else ''}.",
    ]
