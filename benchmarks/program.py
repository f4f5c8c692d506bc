"""Build the native benchmark and run it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from progress import Progress

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "benchmarks"
PROGRAM = BUILD / "benchmarks" / "fairlock_bench"


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
                if at := re.fullmatch(r"progress ([\d.]+) (\w+)\n", line):
                    done, spent = float(at[1]), time.monotonic() - begin
                    left = spent / done - spent if done else 0
                    progress.show(f"{at[2]}: {100 * done:.0f}% of the whole done, {max(left, 0):.0f} s left")
                else:
                    progress.clear()
                    sys.stderr.write(line.replace("fairlock_bench:", "benchmarks/run.py:", 1))
        progress.clear()
        if process.returncode != 0:
            sys.exit(process.returncode if process.returncode > 0 else 1)
        output.seek(0)
        result: dict[str, Any] = json.load(output)
        return result
