"""Medians, and ratios of samples that were taken in the same round."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

Subject = dict[str, Any]

MOST_OTHER_WORK = 0.1  # of the processors' time; more disturbs threads that have to share them


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


def undisturbed(*subjects: Subject) -> list[int]:
    """The rounds in which other work left the processors to all of these; every round, if there is none such."""
    rounds = range(len(next(iter(samples for samples in subjects[0].values() if isinstance(samples, list)))))
    calm = [i for i in rounds if all(s["other_work"][i] <= MOST_OTHER_WORK for s in subjects if "other_work" in s)]
    return calm or list(rounds)


def figure_of(subject: Subject, measure: str) -> Figure:
    return Figure.of([subject[measure][i] for i in undisturbed(subject)])


def ratio_of(subject: Subject, reference: Subject | None, measure: str) -> Figure | None:
    if reference is None or measure not in subject or measure not in reference:
        return None
    pairs = [(subject[measure][i], reference[measure][i]) for i in undisturbed(subject, reference)]
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
