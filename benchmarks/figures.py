"""Medians, and ratios of samples that were taken in the same round."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

Subject = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A median and its quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: list[float]) -> Figure:
        if len(samples) == 1:
            return cls(samples[0], samples[0], samples[0])
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
        return cls(statistics.median(samples), low, high)

    def spread(self) -> str:
        return f"{100 * (self.high - self.low) / self.median:.0f}%" if self.median else "-"


def ratio_of(subject: Subject, reference: Subject | None, measure: str) -> Figure | None:
    if reference is None or measure not in subject or measure not in reference:
        return None
    pairs = zip(subject[measure], reference[measure], strict=True)
    return Figure.of([mine / theirs if theirs else math.inf for mine, theirs in pairs])


class Subjects:
    """What took turns in one part of the benchmark: fairlock's own, and the references."""

    def __init__(self, raw: list[Subject]) -> None:
        self.own = [s for s in raw if s["form"] in ("guard", "semaphore")]
        self.references = [s for s in raw if s["form"] == "reference"]
        self.mutexes = [s for s in raw if s["form"] == "mutex"]
        self.policies = list(dict.fromkeys(s["policy"] for s in self.own))

    def reference(self, name: str) -> Subject | None:
        return next((s for s in self.references if s["name"] == name), None)

    def mutex(self, subject: Subject) -> Subject | None:
        """The same lock, with the episode in its body."""
        key = subject["name"], subject.get("policy")
        return next((s for s in self.mutexes if (s["name"], s["policy"]) == key), None)

    def label(self, subject: Subject) -> str:
        several = len(self.policies) > 1 and "policy" in subject
        return f"{subject['name']} ({subject['policy']})" if several else str(subject["name"])
