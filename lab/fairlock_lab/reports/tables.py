# SPDX-License-Identifier: Apache-2.0
"""Tables of results: medians with their spread, and ratios to what a program would otherwise use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fairlock_lab.benchmarks import compare_program
from fairlock_lab.benchmarks.blocks import Block, Grid
from fairlock_lab.benchmarks.figures import Figure, Table
from fairlock_lab.benchmarks.measures import measure, number
from fairlock_lab.benchmarks.other_work import DISTURBED, disturbance
from fairlock_lab.benchmarks.results import BenchResults
from fairlock_lab.benchmarks.workloads import WORKLOADS

# The references to compare with, in this order, as far as they were measured.
RIVALS = {
    "pthread-mutex": "x pthread",
    "std-mutex": "x std",
    "pthread-mutex-pi": "x PI",
    "ck-ticket": "x ck-ticket",
    "sem_t": "x sem_t",
}
OVERSUBSCRIBED = "*"
SPREAD = "spread: the distance between the quartiles"


def head(results: BenchResults) -> str:
    """Return the machine, and what could not be measured on it."""
    machine = results.machine
    compiler = f", {machine['compiler']}" if machine.get("compiler") else ""
    cpu, governor, kernel = (machine.get(key, "unknown") for key in ("cpu", "governor", "kernel"))
    lines = [f"{cpu}, {machine['cpus']} CPUs, governor {governor}, {kernel}{compiler}"]
    return "\n".join([*lines, *(f"{name}: {why}" for name, why in results.missing.items())])


def blocks(results: BenchResults) -> list[Block]:
    """Return a table for each config, or one for all configs; idle and beside hogs."""
    samples = Table(results)
    points = results.plan.points
    sections = dict.fromkeys(
        (point.workload, "" if columns_of(point.workload) else point.config, point.hogs) for point in points
    )
    result: list[Block] = []
    for workload, config, hogs in sections:
        numbers = samples.find(workload=workload, hogs=hogs, **({"config": config} if config else {}))
        control = WORKLOADS[workload].control if workload in WORKLOADS else None
        rows = [i for i in numbers if control is None or samples.points[i].lock != control]
        if rows:
            result.append(title(workload, config, hogs))
            if workload == compare_program.WORKLOAD:
                result.append(str(samples.points[rows[0]].options.get("command")))
            if changed := changes(samples, rows):
                result.append(f"changed with --set: {', '.join(changed)}")
            if workload == "overhead":
                result.append(overhead(samples, rows))
            elif columns := columns_of(workload):
                result.append(lock_table(samples, rows, measures_of(workload, config), SPREAD, columns))
            else:
                result += config_tables(samples, rows, measures_of(workload, config))
        if control is not None:
            result += negative_control(samples, [i for i in numbers if samples.points[i].lock == control])
    return result + notes(samples)


def title(workload: str, config: str, hogs: int) -> str:
    known = WORKLOADS.get(workload)
    text = f"{known.title}\n{config}: {known.configs[config].title}" if known and config in known.configs else config
    if known and not config:
        text = known.title
    return f"{workload}: {text}" + (f"; beside {hogs} processes that burn CPU" if hogs else "")


def changes(samples: Table, rows: Sequence[int]) -> list[str]:
    """Return the options that differ from those of the config."""
    point = samples.points[rows[0]]
    known = WORKLOADS.get(point.workload)
    if known is None or point.config not in known.configs:
        return []
    usual = known.configs[point.config].options
    shown = {True: "yes", False: "no"}
    return [
        f"{name}={shown[value] if isinstance(value, bool) else value}"
        for name, value in point.options.items()
        if usual.get(name) != value
    ]


def measures_of(workload: str, config: str) -> tuple[str, ...]:
    if workload == compare_program.WORKLOAD:
        return compare_program.MEASURES
    known = WORKLOADS.get(workload)
    if known is None or (config and config not in known.configs):
        return ("throughput", "fairness")
    return (config and known.configs[config].measures) or known.measures


def rivals_of(workload: str) -> list[str]:
    known = WORKLOADS.get(workload)
    return [name for name in RIVALS if known is None or name in known.rivals]


def columns_of(workload: str) -> Mapping[str, str]:
    known = WORKLOADS.get(workload)
    return known.columns if known is not None else {}


def config_tables(samples: Table, rows: Sequence[int], measures: Sequence[str]) -> list[Block]:
    """Return one table, or a table for each measure if there are several numbers of threads."""
    counts = sorted({samples.points[i].threads for i in rows})
    if len(counts) == 1:
        team = f"{threads(counts[0])}{mark(samples, rows)}; " if counts[0] else ""
        return [lock_table(samples, rows, measures, f"{team}{SPREAD}")]
    return [grid for name in measures if (grid := over_threads(samples, rows, name, counts)) is not None]


def over_threads(samples: Table, rows: Sequence[int], name: str, counts: Sequence[int]) -> Grid | None:
    """Return a table with a column for each number of threads.

    Its last column has the ratio to a reference, at the largest number of threads that does not exceed the processors.
    """
    labels = dict.fromkeys(samples.points[i].label for i in rows)
    numbers = {(samples.points[i].label, samples.points[i].threads): i for i in rows}
    heads = {n: f"{n}{mark(samples, [i for i in rows if samples.points[i].threads == n])}" for n in counts}
    last = max([n for n in counts if not heads[n].endswith(OVERSUBSCRIBED)], default=counts[0])
    # Some ratios, such as those of fairness, mean nothing.
    rivals = rivals_of(samples.points[rows[0]].workload) if measure(name).scales and len(labels) > 1 else []
    rival = next((lock for lock in rivals if (lock, last) in numbers), None)
    lines = []
    for label in labels:
        cells = [cell(samples, numbers.get((label, n)), name) for n in counts]
        if any(cells):
            against = [ratio(samples, numbers.get((label, last)), numbers[rival, last], name)] if rival else []
            lines.append([label, *cells, *against])
    if not lines:
        return None
    header = ["lock", *heads.values(), *([f"{RIVALS[rival]} at {last}"] if rival else [])]
    better = f" ({measure(name).better} is better)" if measure(name).better else ""
    caption = f"{measure(name).title}{better}, by threads; in brackets: the distance between the quartiles"
    return Grid(header, lines, header[1:], caption=caption)


def lock_table(
    samples: Table,
    rows: Sequence[int],
    measures: Sequence[str],
    caption: str,
    columns: Mapping[str, str] | None = None,
) -> Grid:
    """Return a table with a line for each lock, a column for each measure, and the ratios of the first measure.

    With columns, the table covers several configs, and also shows the number of threads and these options.
    """
    shown = [name for name in measures if any(samples.figure(i, name) for i in rows)]
    points = samples.points
    numbers = {(points[i].config, points[i].threads, points[i].lock): i for i in rows}
    locks = {points[i].lock for i in rows}
    rivals = [name for name in rivals_of(points[rows[0]].workload) if name in locks and len(rows) > 1]
    heads = ["threads", *columns.values()] if columns else []
    first, *others = shown or [""]
    of_first = [measure(first).head, "spread", *(RIVALS[name] for name in rivals)] if first else []
    header = [*heads, "lock", *of_first, *(measure(name).head for name in others)]
    lines, above = [], None
    for i in rows:
        point = points[i]
        where = [f"{point.threads}{mark(samples, [i])}", *(point.options.get(name, "") for name in columns or {})]
        line = [*(where if where != above else [""] * len(heads))] if columns else []
        above = where
        line += [point.label + (DISTURBED if samples.disturbed(i) else "")]
        if first:
            references = [numbers.get((point.config, point.threads, name)) for name in rivals]
            ratios = [ratio(samples, i, number, first) if number is not None else "" for number in references]
            line += [median(samples, i, first), spread(samples.figure(i, first)), *ratios]
        lines.append([*line, *(median(samples, i, name) for name in others)])
    return Grid(header, lines, [text for text in header if text != "lock"], caption=caption)


def overhead(samples: Table, rows: Sequence[int]) -> Grid:
    """Return how much longer the harness's loop takes than a handwritten one."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for sample in (sample for i in rows for sample in samples.samples(i)):
        for row in sample.metrics.get("rows", ()):
            pairs.setdefault(row["lock"], []).append((row["loop_ns"], row["hand_ns"]))
    lines = []
    for lock, both in pairs.items():
        loop, hand = (Figure.of([pair[i] for pair in both]) for i in (0, 1))
        more = Figure.of([harness - by_hand for harness, by_hand in both])
        quartiles = f"{more.low:+.2f} to {more.high:+.2f}"
        lines.append([lock, number(loop.median), number(hand.median), f"{more.median:+.2f}", quartiles])
    header = ["lock", "the harness's loop, ns", "handwritten, ns", "difference", "quartiles"]
    return Grid(header, lines, header[1:])


def negative_control(samples: Table, rows: Sequence[int]) -> list[Block]:
    """Return whether the broken lock was caught."""
    lines = []
    for i in rows:
        point = samples.points[i]
        caught = sum(bool(sample.metrics.get("caught")) for sample in samples.samples(i))
        runs = len(samples.samples(i))
        lines.append(f"negative control: {point.label}, {threads(point.threads)}: caught in {caught} of {runs} runs")
    return ["\n".join(lines)] if lines else []


def notes(samples: Table) -> list[Block]:
    """Return what a reader of the tables must know."""
    all_samples = samples.results.samples
    lines = []
    if any(sample.oversubscribed for sample in all_samples):
        lines.append(f"{OVERSUBSCRIBED} more threads than processors.")
    lines += disturbance(samples)
    unavailable = {
        str(perf["unavailable"])
        for sample in all_samples
        if isinstance(perf := sample.metrics.get("perf"), dict) and "unavailable" in perf
    }
    wanted = any("perf" in name for p in samples.points for name in measures_of(p.workload, p.config))
    if unavailable and wanted:
        lines.append(f"Hardware counters are not available here ({', '.join(sorted(unavailable))}).")
    lines += undecidable(samples)
    return ["\n".join(lines)] if lines else []


def undecidable(samples: Table) -> list[str]:
    """Return a line for each config whose samples decide nothing on this machine."""
    lines = {}
    for sample in samples.results.samples:
        if sample.metrics.get("decidable") is False:
            point = samples.points[sample.point]
            lines[point.config] = (
                f"{point.workload} {point.config}: not decidable here: {sample.metrics.get('reason')}."
            )
    return list(lines.values())


# --- cells ---


def mark(samples: Table, rows: Iterable[int]) -> str:
    over = any(sample.oversubscribed for i in rows for sample in samples.samples(i))
    return OVERSUBSCRIBED if over else ""


def cell(samples: Table, point: int | None, name: str) -> str:
    figure = samples.figure(point, name) if point is not None else None
    if figure is None or point is None:
        return ""
    flag = DISTURBED if samples.disturbed(point) else ""
    more = f" ({spread(figure)})" if figure.runs > 1 else ""
    return f"{measure(name).show(figure.median)}{more}{flag}"


def median(samples: Table, point: int, name: str) -> str:
    figure = samples.figure(point, name)
    return measure(name).show(figure.median) if figure is not None else ""


def spread(figure: Figure | None) -> str:
    if figure is None or figure.runs == 1:
        return ""
    return f"{100 * figure.spread:.0f}%" if figure.spread < 10 else ">999%"


def ratio(samples: Table, subject: int | None, reference: int, name: str) -> str:
    figure = samples.ratio(subject, reference, name) if subject is not None else None
    return f"{figure.median:.2f}" if figure is not None else ""


def threads(count: int) -> str:
    return f"{count} thread{'' if count == 1 else 's'}"
