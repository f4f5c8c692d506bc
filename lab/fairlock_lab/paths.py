# SPDX-License-Identifier: Apache-2.0
"""Where this installation keeps the native benchmark."""

from __future__ import annotations

from pathlib import Path

from fairlock.paths import find


def bench_program() -> Path:
    """Return the native benchmark, or raise FileNotFoundError."""
    return find("fairlock_lab", __file__, "bin", "fairlock_bench", "the native benchmark") / "fairlock_bench"
