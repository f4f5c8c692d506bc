# SPDX-License-Identifier: Apache-2.0
"""What is at an address of a program or a library, as nm and addr2line tell it, where these are installed."""

from __future__ import annotations

import bisect
import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

PATIENCE = 30.0  # seconds, for a large module
UNKNOWN = "??"
SIZED = re.compile("([0-9a-f]+) ([0-9a-f]{8,}) [^ ] (.+)")  # of nm: address, size, kind and name; some have no size


class Frame(NamedTuple):
    """A place in a function."""

    function: str
    file: str
    line: int | None


def frames(module: str, addresses: Iterable[int]) -> dict[int, list[Frame]]:
    """Return the function at each address of which the source is known, and before it those that were inlined there."""
    asked = "".join(f"{address:#x}\n" for address in addresses)
    found: dict[int, list[Frame]] = {}
    lines = iter(_output(["addr2line", "-e", module, "-a", "-f", "-C", "-i"], asked))
    for line in lines:
        if line.startswith("0x"):
            current = found.setdefault(int(line, 16), [])
            continue
        file, _, number = next(lines, "").partition(" (discriminator")[0].rpartition(":")
        # Without debug information it names whatever symbol comes before.
        if file not in ("", UNKNOWN):
            current.append(Frame(line, file, int(number) if number.isdigit() else None))
    return {address: places for address, places in found.items() if places}


def names(module: str, addresses: Iterable[int]) -> dict[int, str]:
    """Return the symbol that each address lies in, if any, with the distance from its beginning."""
    table: list[tuple[int, int, str]] = []
    for line in _output(["nm", "-n", "-C", "-S", "--defined-only", module]):
        if sized := SIZED.fullmatch(line):
            table.append((int(sized[1], 16), int(sized[2], 16), sized[3]))
    starts = [entry[0] for entry in table]
    found = {}
    for address in addresses:
        at = bisect.bisect_right(starts, address) - 1
        if at >= 0 and address < starts[at] + table[at][1]:
            distance = address - starts[at]
            found[address] = table[at][2] + (f"+{distance:#x}" if distance else "")
    return found


def _output(command: list[str], asked: str = "") -> list[str]:
    """Return the lines that a tool prints, or none if it is not there, or cannot tell."""
    try:
        done = subprocess.run(command, input=asked, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []
