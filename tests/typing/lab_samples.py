# SPDX-License-Identifier: Apache-2.0
"""Typical use of the lab, for type checkers: tests/test_types.py runs them on this file, and never runs the file."""

from __future__ import annotations

from typing import Any, assert_type

import fairlock_lab


def catalogue() -> dict[str, int]:
    entries = fairlock_lab.catalogue(variations=True)
    assert_type(entries["twa"], fairlock_lab.Entry)
    assert_type(entries["twa"].order, str)
    assert_type(entries.to_dict(), dict[str, Any])
    locks = [entry for entry in entries.values() if isinstance(entry, fairlock_lab.LockEntry)]
    return {lock.name: lock.lock_bytes for lock in locks}


def explanation() -> str:
    explanation = fairlock_lab.explain("twa")
    assert_type(explanation.moments[0], fairlock_lab.Moment)
    assert_type(explanation.moments[0].waiting, tuple[tuple[str, str], ...])
    return explanation.text(operations=True)


def checks() -> bool:
    results = fairlock_lab.check("twa", "mcs", threads=3, memory="weak", progress=print)
    assert_type(results[0], fairlock_lab.RunResult)
    assert_type(results[0].property, str | None)
    assert_type(results[:2], tuple[fairlock_lab.RunResult, ...])
    assert_type(results.coverage(), fairlock_lab.Coverage)
    for result in results.violations:
        assert_type(result.replay(), fairlock_lab.Replay)
        assert_type(result.run, fairlock_lab.Run)
    return results.holds


def progress(report: fairlock_lab.CheckProgress) -> str:
    return f"{report.done} of {report.total}, {report.states:,} states"


def mutants() -> list[str]:
    assert_type(fairlock_lab.mutants(), tuple[fairlock_lab.Mutant, ...])
    results = fairlock_lab.check_mutants("twa", jobs=2, progress=progress)
    return [result.run.mutant for result in results.survivors]


def litmus_tests() -> list[bool]:
    return [result.as_expected for result in fairlock_lab.litmus()]


def errors() -> str:
    try:
        fairlock_lab.check("twa")
    except fairlock_lab.CheckInterrupted as interrupted:
        return f"{len(interrupted.results)} of {interrupted.planned}"
    except fairlock_lab.ArgumentError as error:
        return str(error)
    return ""


def wrong() -> None:
    """Each line is an error, and the checkers say so: an ignore that is not needed would be one."""
    fairlock_lab.check("twa", memory="strong")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    fairlock_lab.check("twa", thread=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    fairlock_lab.explain()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    fairlock_lab.catalogue()["twa"].name = "mcs"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
