# SPDX-License-Identifier: Apache-2.0
"""The machine that takes the samples, as results files describe it."""

from __future__ import annotations

import os
import platform
import re
import resource
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# If two machines differ in one of these facts, their results do not belong in one file.
IDENTITY = ("cpu", "cpus", "kernel", "compiler", "libc", "python")


def facts(compiler: str | None = None) -> dict[str, Any]:
    """Return the facts about this machine; ``compiler`` is that of the native program, if the plan uses it."""
    libc = " ".join(part for part in platform.libc_ver() if part)
    return {
        "cpu": processor(),
        "cpus": cpus(),
        "kernel": f"{platform.system()} {platform.release()}",
        "governor": governor(),
        "compiler": compiler,
        "libc": libc or "unknown",
        "python": python(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 2),
    }


def cpus() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def python() -> str:
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    return platform.python_version() + (" free-threaded" if free_threaded else "")


def processor() -> str:
    match = re.search(r"^(?:model name|Processor)\s*:\s*(.+)$", read("/proc/cpuinfo"), re.MULTILINE)
    return match[1].strip() if match else platform.processor() or platform.machine()


def governor() -> str:
    return read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip() or "unknown"


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def most_threads() -> int:
    """Return how many threads a process may have, as far as the system reports a limit."""
    limits = [resource.getrlimit(resource.RLIMIT_NPROC)[0], *(number(path) for path in LIMITS)]
    return min([limit for limit in limits if limit > 0], default=sys.maxsize)


LIMITS = ("/proc/sys/kernel/threads-max", "/proc/sys/kernel/pid_max", "/sys/fs/cgroup/pids.max")


def number(path: str) -> int:
    text = read(path).strip()
    return int(text) if text.isdigit() else 0


def differences(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return how the machine of a file differs from this one."""
    return [f"{key}: {then[key]}, now {now[key]}" for key in IDENTITY if key in then and then[key] != now[key]]
