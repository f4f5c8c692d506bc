"""``python -m fairlock``: the command line tools, and where the C++ headers are."""

from __future__ import annotations

import sys

from fairlock import __version__
from fairlock.paths import cmake_dir, include_dir


def main() -> int:
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
        case _:
            # Here and not above: a C++ user who asks for a path needs no native module.
            from fairlock.cli import main as cli_main

            return cli_main()


if __name__ == "__main__":
    sys.exit(main())
