# SPDX-License-Identifier: Apache-2.0
"""``python -m fairlock``: run a program with fairlock's locks, run a command, or print where the C++ headers are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from fairlock import __version__
from fairlock.cli import all_commands
from fairlock.cli import main as call_command
from fairlock.paths import cmake_dir, include_dir


def refuse(message: str) -> int:
    print(f"fairlock: {message}", file=sys.stderr)
    return 2


def run_program(kind: Literal["-c", "-m", "file"], program: str, arguments: list[str]) -> int:
    try:
        from fairlock.run.script import run
    except ImportError as error:  # the message says how to get the native module
        return refuse(str(error))
    run(kind, program, arguments)
    return 0


def main() -> int:
    # Import what needs the native module only where it is used: C++ users who need only a path may not have it.
    match sys.argv[1:]:
        case ["--version"]:
            print(f"fairlock {__version__}")
            return 0
        case ["--include" | "--cmake-dir" as option]:
            try:
                print(include_dir() if option == "--include" else cmake_dir())
            except FileNotFoundError as error:
                print(f"fairlock: {error}", file=sys.stderr)
                return 1
            return 0
        case ["-c" | "-m" as kind, program, *arguments]:
            return run_program(kind, program, arguments)
        case ["-c" | "-m" as kind]:
            return refuse(f"{kind} needs an argument: python -m fairlock {kind} {'CODE' if kind == '-c' else 'MODULE'}")
        case [word, *arguments] if word not in all_commands() and not word.startswith("-"):
            if not word.endswith(".py") and not Path(word).exists():
                return refuse(
                    f"'{word}' is neither a command ({', '.join(all_commands())}) nor a file; run a module with -m"
                )
            return run_program("file", word, arguments)
        case _:
            return call_command()


if __name__ == "__main__":
    sys.exit(main())
