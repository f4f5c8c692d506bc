# SPDX-License-Identifier: Apache-2.0
"""Names of the addresses in a program or a library, from nm and addr2line where these are installed."""

from __future__ import annotations

import bisect
import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

TIMEOUT = 30.0  # seconds, for a large module
UNKNOWN = "??"
SIZED = re.compile("([0-9a-f]+) ([0-9a-f]{8,}) [^ ] (.+)")  # a line of nm with a size


class Frame(NamedTuple):
    """A place in a function."""

    function: str
    file: str
    line: int | None


def frames(module: str, addresses: Iterable[int]) -> dict[int, list[Frame]]:
    """Return the frames at each address with a known source: first the functions that were inlined there."""
    input_text = "".join(f"{address:#x}\n" for address in addresses)
    frames_at: dict[int, list[Frame]] = {}
    lines = iter(_output(["addr2line", "-e", module, "-a", "-f", "-C", "-i"], input_text))
    for line in lines:
        if line.startswith("0x"):
            current = frames_at.setdefault(int(line, 16), [])
            continue
        file, _, number = next(lines, "").partition(" (discriminator")[0].rpartition(":")
        # Without debug information addr2line names the nearest symbol before the address.
        if file not in ("", UNKNOWN):
            current.append(Frame(line, file, int(number) if number.isdigit() else None))
    return {address: places for address, places in frames_at.items() if places}


def names(module: str, addresses: Iterable[int]) -> dict[int, str]:
    """Return the symbol that contains each address, if any, with the distance from its start."""
    table: list[tuple[int, int, str]] = []
    for line in _output(["nm", "-n", "-C", "-S", "--defined-only", module]):
        if sized := SIZED.fullmatch(line):
            table.append((int(sized[1], 16), int(sized[2], 16), sized[3]))
    starts = [entry[0] for entry in table]
    symbols = {}
    for address in addresses:
        index = bisect.bisect_right(starts, address) - 1
        if index >= 0 and address < starts[index] + table[index][1]:
            distance = address - starts[index]
            symbols[address] = table[index][2] + (f"+{distance:#x}" if distance else "")
    return symbols


def _output(command: list[str], input_text: str = "") -> list[str]:
    """Return the lines that a tool prints; none if the tool is missing or fails."""
    try:
        result = subprocess.run(
            command, input=input_text, capture_output=True, text=True, errors="replace", timeout=TIMEOUT
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return result.stdout.splitlines() if result.returncode == 0 else []
