"""Build the native benchmark, run it, and compare fairlock with what a program could use instead.

    python benchmarks/run.py [--seconds S] [--rounds N] [--threads N] [--locks a,b] [--json FILE]

All figures come from one run in which all locks took turns. A ratio is the median over the rounds
of the two samples of one round, so what slows the whole machine down for a while cancels out.
Timings are no tests: a missed target is printed as missed, and the exit status is 0 all the same.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "benchmarks"
PROGRAM = BUILD / "benchmarks" / "fairlock_bench"

Subject = dict[str, Any]

# uncontended: lock -> (reference, at most this many times as long)
UNCONTENDED_TARGETS = {
    "ticket": ("ck-ticket", 1.1),
    "mcs": ("ck-mcs", 1.1),
    "anderson": ("ck-anderson", 1.1),
    "clh": ("ck-clh", 1.5),
    "twa": ("pthread-mutex", 1.1),
    "hapax": ("pthread-mutex", 1.0),
    "hapax-vw": ("pthread-mutex", 1.0),
}
# contending: every FIFO lock -> (reference, at least this many times as fast)
CONTENDED_TARGET = ("ck-ticket", 1.0)


# --- Progress -----------------------------------------------------------------------------------


class Progress:
    """A line on stderr that is overwritten; silent where stderr is not a terminal."""

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


# --- Building and running -----------------------------------------------------------------------


def tool(name: str) -> str | None:
    """The tool of the running interpreter's environment, else the system's."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def quiet(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def build(progress: Progress) -> None:
    cmake = tool("cmake")
    if cmake is None:
        sys.exit("benchmarks/run.py: cmake was not found (pip install cmake ninja)")
    configure = [cmake, "-S", str(ROOT), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release"]
    configure += ["-DFAIRLOCK_BENCHMARKS=ON", "-DFAIRLOCK_INSTALL=OFF"]
    ninja = tool("ninja")
    if ninja is not None:
        configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    with progress.ticking("building the benchmark"):
        result = quiet(configure)
        if result.returncode != 0:  # perhaps an old build folder, of other tools
            result = quiet([*configure, "--fresh"])
        if result.returncode == 0:
            result = quiet([cmake, "--build", str(BUILD), "--target", "fairlock_bench"])
    if result.returncode != 0:
        sys.stderr.write(result.stdout)
        sys.exit("benchmarks/run.py: the benchmark could not be built")


def measure(arguments: list[str], progress: Progress) -> dict[str, Any]:
    with tempfile.TemporaryFile("w+") as output:
        begin = time.monotonic()
        with subprocess.Popen([str(PROGRAM), *arguments], stdout=output, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for line in process.stderr:
                if at := re.fullmatch(r"round (\d+) of (\d+)\n", line):
                    this, last = int(at[1]), int(at[2])
                    spent = time.monotonic() - begin
                    text = f"round {this} of {last}"
                    if this > 1:
                        text += f", {spent / (this - 1) * (last - this + 1):.0f} s left"
                    progress.show(text)
                else:
                    progress.clear()
                    sys.stderr.write(line.replace("fairlock_bench:", "benchmarks/run.py:", 1))
        progress.clear()
        if process.returncode != 0:
            sys.exit(process.returncode if process.returncode > 0 else 1)
        output.seek(0)
        result: dict[str, Any] = json.load(output)
        return result


# --- Figures ------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Target:
    lock: str
    case: str
    reference: str
    bound: float
    at_most: bool
    ratio: Figure | None  # None: the reference was not measured

    def verdict(self) -> str:
        if self.ratio is None:
            return "not measured"
        met = self.ratio.median <= self.bound if self.at_most else self.ratio.median >= self.bound
        return "pass" if met else "miss"

    def in_doubt(self) -> bool:
        return self.ratio is not None and self.ratio.low < self.bound < self.ratio.high


class Results:
    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.by_key = {(s["name"], s["form"]): s for s in raw["subjects"]}
        self.guards = [s for s in raw["subjects"] if s["form"] == "guard"]
        self.references = [s for s in raw["subjects"] if s["form"] == "reference"]

    def reference(self, name: str) -> Subject | None:
        return self.by_key.get((name, "reference"))

    def mutex(self, name: str) -> Subject | None:
        return self.by_key.get((name, "mutex"))

    def targets(self) -> list[Target]:
        found = []
        for lock in self.guards:
            if lock["name"] in UNCONTENDED_TARGETS:
                other, bound = UNCONTENDED_TARGETS[lock["name"]]
                ratio = ratio_of(lock, self.reference(other), "uncontended_ns")
                found.append(Target(lock["name"], "uncontended", other, bound, True, ratio))
        other, bound = CONTENDED_TARGET
        for lock in self.guards:
            if lock["order"] == "fifo" and self.raw["threads"] == 2:
                ratio = ratio_of(lock, self.reference(other), "pairs_per_second")
                found.append(Target(lock["name"], "contending", other, bound, False, ratio))
        return found


def ratio_of(subject: Subject, reference: Subject | None, measure: str) -> Figure | None:
    if reference is None or measure not in subject or measure not in reference:
        return None
    pairs = zip(subject[measure], reference[measure], strict=True)
    return Figure.of([mine / theirs if theirs else math.inf for mine, theirs in pairs])


# --- Tables -------------------------------------------------------------------------------------


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


def comparison(
    results: Results,
    measure: str,
    unit: Callable[[float], float],
    references: Callable[[str], list[str]],
    extra: Callable[[Subject], list[str]],
) -> list[list[str]]:
    """A row for each lock: median, spread, ratios to references; then the same lock as a Mutex."""
    pthread = results.reference("pthread-mutex")
    rows = []
    for subject in results.guards + results.references:
        if measure not in subject:
            continue
        figure = Figure.of(subject[measure])
        row = [subject["name"], number(unit(figure.median)), figure.spread(), *extra(subject)]
        own = subject["form"] == "guard"
        for name in references(subject["name"]):
            row.append(ratio_cell(subject, results.reference(name), measure))
        mutex = results.mutex(subject["name"]) if own else None
        if mutex is not None:
            row.append(number(unit(statistics.median(mutex[measure]))))
            row.append(ratio_cell(mutex, pthread, measure))
        else:
            row += ["same" if own else "", ""]
        rows.append(row)
    return rows


def print_results(results: Results) -> None:
    raw = results.raw
    print(
        f"fairlock, native: {raw['cpus']} CPUs ({processor()}), {raw['compiler']},"
        f" {raw['rounds']} rounds in {raw['seconds']:g} s"
    )
    print("Ratios are to the lock in the column's head. guard: the episode is on the stack;")
    print("Mutex: the episode is in the lock's body (same: the lock has none).")
    for what, why in raw["missing"].items():
        print(f"{what}: {why}")

    print("\nUncontended: nanoseconds for an acquire and its release (less is better)\n")
    header = ["lock", "guard", "spread", "x pthread", "x ck's own", "Mutex", "x pthread"]
    print_table(
        header,
        comparison(
            results,
            "uncontended_ns",
            lambda ns: ns,
            lambda name: ["pthread-mutex", f"ck-{name}"],
            lambda _: [],
        ),
    )

    print(
        f"\n{raw['threads']} threads contending, policy {raw['policy']}:"
        " million pairs of acquire and release a second (more is better)"
    )
    if raw["threads"] <= raw["cpus"]:
        lost = f"{100 * raw['disturbed']:.0f}% of the trials do not count"
        print(f"{lost}: other work took a thread's processor away")
    print()
    header = ["lock", "guard", "spread", "slowest/fastest"]
    header += ["x pthread", "x ck-ticket", "Mutex", "x pthread"]
    print_table(
        header,
        comparison(
            results,
            "pairs_per_second",
            lambda pairs: pairs / 1e6,
            lambda _: ["pthread-mutex", "ck-ticket"],
            lambda subject: [f"{statistics.median(subject['slowest_to_fastest']):.2f}"],
        ),
    )


def print_targets(targets: list[Target]) -> None:
    if not targets:
        return
    print("\nTargets (the ratio, and between which two values half of the rounds lie)\n")
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    colours = {"pass": "\033[32m", "miss": "\033[31m"}
    name = max(len(target.lock) for target in targets)
    for target in targets:
        verdict = target.verdict()
        mark = verdict.ljust(4)
        if colour and verdict in colours:
            mark = f"{colours[verdict]}{mark}\033[0m"
        line = f"{mark}  {target.lock:{name}}  {target.case:11}  "
        if target.ratio is not None:
            ratio = target.ratio
            line += f"{ratio.median:5.2f} ({ratio.low:.2f} to {ratio.high:.2f}) "
        line += f"x {target.reference}, "
        line += f"{'at most' if target.at_most else 'at least'} {target.bound:g}"
        print(line + (": within the noise" if target.in_doubt() else ""))
    met = sum(target.verdict() == "pass" for target in targets)
    missed = sum(target.verdict() == "miss" for target in targets)
    unmeasured = len(targets) - met - missed
    print(f"\n{met} met, {missed} missed" + (f", {unmeasured} not measured" if unmeasured else ""))


def processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


# --- The command --------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare fairlock's locks with others, natively.")
    parser.add_argument("--seconds", default="40", help="time to measure, in all (default: 40)")
    parser.add_argument("--rounds", default="41", help="rounds to divide it into (default: 41)")
    parser.add_argument("--threads", default="2", help="threads that contend (default: 2)")
    parser.add_argument("--locks", metavar="a,b", help="only these locks of the catalogue")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write samples and targets here")
    options = parser.parse_args()
    if options.json is not None and not options.json.absolute().parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.absolute().parent}")

    progress = Progress()
    build(progress)
    arguments = ["--seconds", options.seconds, "--rounds", options.rounds]
    arguments += ["--threads", options.threads]
    if options.locks is not None:
        arguments += ["--locks", options.locks]
    results = Results(measure(arguments, progress))
    targets = results.targets()
    print_results(results)
    print_targets(targets)
    if options.json is not None:
        judged = [{**asdict(target), "verdict": target.verdict()} for target in targets]
        options.json.write_text(json.dumps({**results.raw, "targets": judged}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
