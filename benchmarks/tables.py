"""The tables that a person reads."""

from __future__ import annotations

import platform
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import MOST_OTHER_WORK, Figure, Subject, Subjects, figure_of, ratio_of, undisturbed


def print_results(raw: dict[str, Any]) -> None:
    print(f"fairlock, native: {raw['cpus']} CPUs ({processor()}), {raw['compiler']}")
    print("Ratios are to the lock in the column's head, in the same round; guard: the episode is on the stack;")
    print("Mutex: the episode is in the lock's body (same: the lock has none).")
    for what, why in raw["missing"].items():
        print(f"{what}: {why}")
    for part, show in (
        ("uncontended", uncontended),
        ("contended", contended),
        ("semaphores", semaphores),
        ("oversubscribed", oversubscribed),
    ):
        if part in raw:
            show(raw[part], raw["cpus"])


def uncontended(part: dict[str, Any], _: int) -> None:
    subjects = Subjects(part["subjects"])
    title(f"Uncontended, {policies(subjects)}: nanoseconds for an acquire and its release (less is better)", part)
    header = ["lock", "guard", "spread", "x pthread", "x ck's own", "Mutex", "x pthread"]
    rows = with_mutexes(
        subjects,
        "uncontended_ns",
        lambda ns: ns,
        lambda name: ["pthread-mutex", f"ck-{name}"],
        lambda _: [],
    )
    print_table(header, rows)


def contended(part: dict[str, Any], cpus: int) -> None:
    subjects = Subjects(part["subjects"])
    title(
        f"{part['threads']} threads contending, {policies(subjects)}:"
        " million pairs of acquire and release a second (more is better)",
        part,
    )
    if part["threads"] <= cpus:
        print(f"{100 * part['disturbed']:.0f}% of the trials do not count: other work took a thread's processor away\n")
    header = ["lock", "guard", "spread", "slowest/fastest"]
    header += ["x pthread", "x ck-ticket", "Mutex", "x pthread"]
    rows = with_mutexes(
        subjects,
        "pairs_per_second",
        lambda pairs: pairs / 1e6,
        lambda _: ["pthread-mutex", "ck-ticket"],
        lambda subject: [f"{statistics.median(subject['slowest_to_fastest']):.2f}"],
    )
    print_table(header, rows)


def semaphores(part: dict[str, Any], _: int) -> None:
    subjects = Subjects(part["subjects"])
    title(
        f"Semaphores with one permit, {policies(subjects)}: nanoseconds alone (less is better),"
        f" million pairs a second of {part['threads']} threads (more is better)",
        part,
    )
    header = ["semaphore", "alone", "spread", "x sem_t", "x std"]
    header += ["contending", "spread", "slowest/fastest", "x sem_t", "x std"]
    rows = []
    for subject in subjects.own + subjects.references:
        row = [subjects.label(subject)]
        for measure, unit in (("uncontended_ns", 1.0), ("pairs_per_second", 1e6)):
            figure = Figure.of(subject[measure])
            row += [number(figure.median / unit), figure.spread()]
            if measure == "pairs_per_second":
                row.append(f"{statistics.median(subject['slowest_to_fastest']):.2f}")
            row += [ratio_cell(subject, subjects.reference(name), measure) for name in ("sem_t", "std-semaphore")]
        rows.append(row)
    print_table(header, rows)


def oversubscribed(part: dict[str, Any], cpus: int) -> None:
    title(f"Oversubscribed: threads that do nothing but take a lock, on {cpus} CPUs", part)
    print("Every acquire is timed with the processor's counter, which costs all of them the same few nanoseconds.")
    print("longest wait: of any thread in the window, the median of the rounds; at worst: the longest of all rounds.")
    for case in part["cases"]:
        crowd(case)


def crowd(case: dict[str, Any]) -> None:
    subjects = Subjects(case["subjects"])
    beside = f"beside {case['hogs']} CPU hogs" if case["hogs"] else "no hogs"
    print(f"\n{case['threads']} threads, {beside}, {policies(subjects)}: thousand pairs a second")
    print(f"windows of {1000 * case['window']:.0f} ms, {disturbance(case['subjects'])}\n")
    references = {"x pthread": "pthread-mutex", "x PI": "pthread-mutex-pi", "x sem_t": "sem_t"}
    if not subjects.references:
        references = {}
    header = ["lock", "pairs", "spread", "slowest/fastest", "longest wait, ms", "at worst", *references]
    rows = []
    for subject in subjects.own + subjects.references:
        rate = figure_of(subject, "pairs_per_second")
        row = [subjects.label(subject), number(rate.median / 1e3), rate.spread()]
        row.append(f"{figure_of(subject, 'slowest_to_fastest').median:.2f}")
        waits = [subject["longest_wait"][i] for i in undisturbed(subject)]
        row += [number(1e3 * statistics.median(waits)), number(1e3 * max(waits))]
        row += [ratio_cell(subject, subjects.reference(name), "pairs_per_second") for name in references.values()]
        rows.append(row)
    print_table(header, rows)


def disturbance(subjects: list[Subject]) -> str:
    shares = [share for subject in subjects for share in subject["other_work"]]
    lost = sum(share > MOST_OTHER_WORK for share in shares) / len(shares)
    stuck = sum(min(subject["other_work"]) > MOST_OTHER_WORK for subject in subjects)
    text = f"of which other work disturbed {100 * lost:.0f}%"
    if stuck:
        return f"{text}; {stuck} of {len(subjects)} rows have no others and are not to be relied on"
    return f"{text}, which do not count" if lost else text


# --- Cells --------------------------------------------------------------------------------------


def title(text: str, part: dict[str, Any]) -> None:
    print(f"\n{text}\n{part['rounds']} rounds in {part['seconds']:.0f} s\n")


def policies(subjects: Subjects) -> str:
    return ("policies " if len(subjects.policies) > 1 else "policy ") + ", ".join(subjects.policies)


def print_table(header: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())


def number(value: float) -> str:
    return f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def ratio_cell(subject: Subject | None, reference: Subject | None, measure: str) -> str:
    ratio = ratio_of(subject, reference, measure) if subject is not None else None
    return f"{ratio.median:.2f}" if ratio is not None else ""


def with_mutexes(
    subjects: Subjects,
    measure: str,
    unit: Callable[[float], float],
    references: Callable[[str], list[str]],
    extra: Callable[[Subject], list[str]],
) -> list[list[str]]:
    """A row for each lock: median, spread, ratios to references; then the same lock as a Mutex."""
    pthread = subjects.reference("pthread-mutex")
    rows = []
    for subject in subjects.own + subjects.references:
        figure = Figure.of(subject[measure])
        row = [subjects.label(subject), number(unit(figure.median)), figure.spread(), *extra(subject)]
        own = subject["form"] == "guard"
        for name in references(subject["name"]):
            row.append(ratio_cell(subject, subjects.reference(name), measure))
        mutex = subjects.mutex(subject) if own else None
        if mutex is not None:
            row.append(number(unit(statistics.median(mutex[measure]))))
            row.append(ratio_cell(mutex, pthread, measure))
        else:
            row += ["same" if own else "", ""]
        rows.append(row)
    return rows


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()
