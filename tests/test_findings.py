"""Every command in docs/findings.md does what the page says it does."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from conftest import Command

PAGE = Path(__file__).resolve().parent.parent / "docs" / "findings.md"
COMMANDS = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    fairlock ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_findings(fairlock: Command, command: str) -> None:
    done = fairlock(*shlex.split(command)[1:])
    assert done.returncode == (1 if "--mutant" in command else 0), done.stdout + done.stderr


def test_there_are_findings() -> None:
    assert len(COMMANDS) >= 10
