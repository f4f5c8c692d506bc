# SPDX-License-Identifier: Apache-2.0
"""Draw how often each of many threads gets one lock, under threading.Lock and under fairlock.Lock.

    python docs/starving.py [--threads 32] [--seconds 1] [--output docs/starving.svg]

The script also prints the numbers in the picture. It needs only an installed fairlock.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import sysconfig
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent
# In a clone, `import fairlock` must find the installed package, and not the sources.
sys.path[:] = [path for path in sys.path if path and Path(path).resolve() != HERE.parent]

import fairlock  # noqa: E402

WIDTH, HEIGHT = 900, 330  # of the picture
LEFT, TOP, GAP = 70, 62, 30
PANEL_WIDTH, PANEL_HEIGHT = 370, 190

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px }
  .small { font-size: 11px; fill: #59636e }
  .axis { stroke: #59636e }
  .share { stroke: #59636e; stroke-dasharray: 4 3 }
  .before { fill: #d1603d }
  .after { fill: #2a7f9e }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .small { fill: #9198a1 }
    .axis, .share { stroke: #9198a1 }
    .before { fill: #f0885f }
    .after { fill: #58b6d8 }
  }
"""


def turns(lock: AbstractContextManager[bool], threads: int, seconds: float) -> list[int]:
    """Return how often each thread got the lock, in ascending order."""
    counts = [0] * threads
    shared = [0]
    start = threading.Barrier(threads + 1)
    stop = threading.Event()

    def work(number: int) -> None:
        count = 0
        start.wait()
        while not stop.is_set():
            with lock:
                shared[0] += 1
            count += 1
        counts[number] = count

    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    start.wait()
    time.sleep(seconds)
    stop.set()
    for worker in workers:
        worker.join()
    assert shared[0] == sum(counts)
    return sorted(counts)


def this_python() -> str:
    free = " free-threaded" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return f"Python {platform.python_version()}{free}, {len(os.sched_getaffinity(0))} processors"


def summary(counts: list[int]) -> str:
    ratio = counts[0] / max(counts[-1], 1)
    return f"slowest {counts[0]:,}, median {median(counts):,.0f}, fastest {counts[-1]:,}; slowest / fastest {ratio:.2f}"


def panel(left: float, kind: str, title: str, counts: list[int], top: int) -> list[str]:
    """Return the SVG elements of a bar chart: a bar for each thread, on a scale from 0 to `top`."""
    bar = PANEL_WIDTH / len(counts)
    bottom = TOP + PANEL_HEIGHT
    share = bottom - PANEL_HEIGHT * sum(counts) / len(counts) / top
    lines = [f'<text class="title" x="{left}" y="{TOP - 22}">{title}</text>']
    for i, count in enumerate(counts):
        height = max(PANEL_HEIGHT * count / top, 0.5)
        lines.append(
            f'<rect class="{kind}" x="{left + i * bar + 1:.1f}" y="{bottom - height:.1f}" '
            f'width="{bar - 2:.1f}" height="{height:.1f}"><title>{count:,} turns</title></rect>'
        )
    return [
        *lines,
        f'<line class="axis" x1="{left}" y1="{bottom}" x2="{left + PANEL_WIDTH}" y2="{bottom}"/>',
        f'<line class="share" x1="{left}" y1="{share:.1f}" x2="{left + PANEL_WIDTH}" y2="{share:.1f}"/>',
        f'<text class="small" x="{left}" y="{bottom + 18}">{summary(counts)}</text>',
    ]


def picture(before: list[int], after: list[int], seconds: float) -> str:
    top = max(before[-1], after[-1])
    scale = []
    for part in (0, 0.5, 1):
        place = f'x="{LEFT - 8}" y="{TOP + PANEL_HEIGHT * (1 - part) + 4:.0f}" text-anchor="end"'
        scale.append(f'<text class="small" {place}>{top * part:,.0f}</text>')
    description = f"Turns of {len(before)} threads in {seconds:g} s, the fewest first; dashed: equal shares."
    caption = f"{description} {this_python()}."
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            f"<title>{caption}</title>",
            f"<style>{STYLE}</style>",
            *scale,
            *panel(LEFT, "before", "threading.Lock", before, top),
            *panel(LEFT + PANEL_WIDTH + GAP, "after", "fairlock.Lock", after, top),
            f'<text x="{LEFT}" y="{HEIGHT - 20}">{caption}</text>',
            "</svg>\n",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--output", type=Path, default=HERE / "starving.svg")
    args = parser.parse_args()
    before = turns(threading.Lock(), args.threads, args.seconds)
    after = turns(fairlock.Lock(), args.threads, args.seconds)
    args.output.write_text(picture(before, after, args.seconds))
    print(f"{args.threads} threads, {args.seconds:g} s each; {this_python()}")
    print(f"threading.Lock  {sum(before):>10,} turns; {summary(before)}")
    print(f"fairlock.Lock   {sum(after):>10,} turns; {summary(after)}")


if __name__ == "__main__":
    main()
