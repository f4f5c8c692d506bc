# SPDX-License-Identifier: Apache-2.0
"""The commands that the lab adds to `fairlock`."""

from __future__ import annotations

import re

from conftest import Command

from fairlock import cli


def test_help_describes_every_command(fairlock: Command) -> None:
    done = fairlock("--help")
    assert done.returncode == 0
    shown = " ".join(done.stdout.split())
    for name, text in cli.all_commands().items():
        assert text, name
        assert re.search(rf"\b{name} {re.escape(text)}", shown), name
