# SPDX-License-Identifier: Apache-2.0
"""The share of the processors' time that other processes take during a sample.

``lab/bench/harness/background_load.hpp`` measures the same in C++. The marks and notes of tables about this share are
here too.
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

from fairlock_lab.benchmarks.figures import MOST_OTHER_WORK, Table, is_undisturbed

DISTURBED = "!"  # marks a row that other work disturbed in every run


class OtherWork:
    """Measures from its construction on."""

    def __init__(self) -> None:
        self._began, self._before = time.monotonic(), busy() - ours()

    def share(self) -> float:
        """Return the share of all processors' time since the construction. Programs that we started must have ended."""
        spent = (time.monotonic() - self._began) * (os.cpu_count() or 1)
        return min(1.0, max(0.0, (busy() - ours() - self._before) / spent))


def busy() -> float:
    """Return how many seconds the processors have been busy since the machine started."""
    try:
        first = Path("/proc/stat").read_text().partition("\n")[0]
    except OSError:
        return 0.0
    user, nice, system, _idle, _wait, irq, soft, stolen = map(int, first.split()[1:9])
    return (user + nice + system + irq + soft + stolen) / os.sysconf("SC_CLK_TCK")


def ours() -> float:
    usages = [resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def disturbance(samples: Table) -> list[str]:
    """Return lines about the samples that other work disturbed; no lines if there are none."""
    all_samples = samples.results.samples
    disturbed = sum(not is_undisturbed(sample) for sample in all_samples)
    if not disturbed:
        return []
    marked = any(samples.disturbed(i) for i in range(len(samples.points)))
    share = f"{100 * MOST_OTHER_WORK:.0f} % of the processors"
    return [
        f"Other work took more than {share} in {disturbed} of {len(all_samples)} samples.",
        f"A row uses such samples only if it has no others{f' ({DISTURBED})' if marked else ''}.",
    ]
