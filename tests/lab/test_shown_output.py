# SPDX-License-Identifier: Apache-2.0
"""Where a page shows a command of the lab with its output, the command still prints these lines, in this order."""

from __future__ import annotations

import re
import shlex

import pages
import pytest
from conftest import Command

# The output of these commands is the same on every machine, apart from the lines that a page leaves out as "...", and
# from counts of states.
COMMAND = re.compile(r"\$ fairlock ((?:check|explain|list) .*)\n((?:.*\n)+)")
SHOWN = [
    pytest.param(*match.groups(), id=f"{path.stem}: {match[1]}")
    for path in sorted((pages.ROOT / "docs").rglob("*.md"))
    for _, text in pages.read(path).blocks
    if (match := COMMAND.match(text))
]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_the_shown_output_is_real(fairlock: Command, command: str, output: str) -> None:
    done = fairlock(*shlex.split(command))
    printed = [line.strip() for line in pages.without_state_counts(done.stdout).splitlines()]
    for shown in output.splitlines():
        if shown == "...":
            continue
        line = pages.without_state_counts(shown).strip()
        assert line in printed, f"{line!r} is not in the rest of the output:\n{done.stdout}{done.stderr}"
        del printed[: printed.index(line) + 1]


def test_pages_show_output() -> None:
    assert len(SHOWN) >= 2
