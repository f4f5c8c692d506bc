# SPDX-License-Identifier: Apache-2.0
"""Every command in docs/explanation/findings.md reports what the page says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from conftest import Command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "findings.md"
# Each command with the comment that follows it. Commands with the same result share a comment.
FINDINGS = [
    (command.strip(), expected)
    for commands, expected in re.findall(r"((?:^    fairlock .*\n)+)    # (.*)", PAGE.read_text(), re.MULTILINE)
    for command in commands.splitlines()
]


@pytest.mark.parametrize(("command", "expected"), FINDINGS)
def test_findings(fairlock: Command, command: str, expected: str) -> None:
    done = fairlock(*shlex.split(command)[1:], "--json")
    assert done.returncode == (0 if expected == "holds" else 1), done.stdout + done.stderr
    output = json.loads(done.stdout)
    if "--schedule" in command:
        assert (output["property"] or "holds") == expected
        # The property breaks in the last step of the schedule, not before.
        assert len(output["lines"]) == len(re.findall(r"[A-D]", command.split()[-1]))
        assert output["skipped"] == 0
    elif expected == "holds":
        assert {row["verdict"] for row in output} == {"holds"}
    else:
        assert [row["property"] for row in output] == [expected]


def test_every_command_of_the_page_is_tested() -> None:
    commands = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    fairlock ")]
    assert commands == [command for command, _ in FINDINGS]
    assert len(commands) >= 10
