# SPDX-License-Identifier: Apache-2.0
"""``fairlock run --python``: also replace the types of ``threading`` in every Python that the program starts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from fairlock.run.program import Step
from fairlock.usage import UsageError

HOOK = Path(__file__).resolve().parent / "python_hook"  # a folder with a sitecustomize.py, and nothing else

NAME = re.compile(r"(python|pypy)[\d.]*t?(-dbg)?$")

CHECK_IMPORT = "import sys; print(sys.version.split()[0]); sys.exit('fairlock' not in sys.modules)"


def environment(base: Mapping[str, str], wanted: bool) -> dict[str, str]:
    """Return ``base``, changed so that a Python runs our sitecustomize if ``wanted``, and otherwise does not."""
    before = base.get("PYTHONPATH")
    folders = [folder for folder in before.split(":") if Path(folder).parts[-2:] != HOOK.parts[-2:]] if before else []
    if wanted:
        if ":" in str(HOOK):
            raise UsageError(f"PYTHONPATH cannot hold a folder with a colon: {HOOK}; install fairlock elsewhere")
        folders.insert(0, str(HOOK))
    changed = {**base, "PYTHONPATH": ":".join(folders)}
    if not folders:
        del changed["PYTHONPATH"]
    return changed


def check(steps: list[Step], environment: Mapping[str, str]) -> None:
    """Raise UsageError if the command is a Python whose ``threading`` would not be replaced."""
    # The first step that is a Python. The file that is loaded may differ: `python3` may be a script that chooses one.
    names = ((step, {Path(step.words[0]).name, Path(step.file).resolve().name}) for step in steps)
    python = next((step for step, candidates in names if any(map(NAME.match, candidates))), None)
    if python is None:  # another program. If it starts a Python later, the hook reports what is wrong
        return
    if option := _ignoring_option(python.words):
        raise UsageError(
            f"{python.words[0]} {option} ignores the environment by which --python replaces threading; "
            f"leave out {option}, or let the program call fairlock.install()"
        )
    # Without the lock: this asks only which modules it can import.
    plain = {name: value for name, value in environment.items() if name != "LD_PRELOAD"}
    answer = subprocess.run(
        [python.file, "-c", CHECK_IMPORT],
        env=plain,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        version = (answer.stdout.split() or ["of unknown version"])[-1]
        raise UsageError(
            f"{python.file} (Python {version}) cannot import fairlock, so --python would not replace its threading; "
            f"install it there (from Python 3.11 on: {python.file} -m pip install fairlock), or leave out --python"
        )


def _ignoring_option(words: list[str]) -> str:
    """Return the option that makes a Python ignore PYTHONPATH or sitecustomize; empty if there is none."""
    rest = iter(words[1:])
    for word in rest:
        if word == "--check-hash-based-pycs":
            next(rest, None)
        if word.startswith("--"):
            continue
        # Letters, up to one that takes the rest of the word or the next word. -c and -m end the options.
        option = re.match(r"-([^cmWX]*)([cmWX]?)(.*)", word)
        if option is None or word == "-":
            break
        letters, last, value = option.groups()
        for letter in letters:
            if letter in "EIS":
                return f"-{letter}"
        if last and last in "cm":
            break
        if last and not value:
            next(rest, None)
    return ""
