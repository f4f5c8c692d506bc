# SPDX-License-Identifier: Apache-2.0
"""The files that a benchmark writes, and the page that is made of them."""

from __future__ import annotations

import argparse
import tempfile
from importlib import import_module
from pathlib import Path

from fairlock.usage import UsageError
from fairlock_lab.benchmarks import results
from fairlock_lab.benchmarks.composites import COMPOSITES
from fairlock_lab.benchmarks.results import Results


def default(workload: str | None, name: str) -> Path | None:
    composite = COMPOSITES.get(workload or "")
    if composite is None or composite.folder is None:
        return None
    folder = Path(composite.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error.strerror} (--json and --report name other files)") from error
    return folder / name


def writable(path: Path | None) -> Path | None:
    """Complain now of a file that could not be written later."""
    if path is not None:
        try:
            folder = path.absolute().parent
        except OSError as error:  # we are in a folder that is gone
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
        if not folder.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {folder}")
        if path.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder")
        if path.exists() and not path.is_file():  # a device or a pipe: it would be replaced
            raise UsageError(f"cannot write {path}: it is no ordinary file")
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return path


def apart(page: Path | None, *others: Path | None) -> None:
    """Refuse to put a page in the place of results."""
    for other in others:
        if page is not None and other is not None and page.resolve() == other.resolve():
            raise UsageError(f"cannot write the page to {page}: the results are there; name another file")


def check_report() -> None:
    """Complain now if there will be no page; `fairlock.report` says itself what it needs."""
    import_module("fairlock_lab.commands.report")


def make_report(found: Results, path: Path | None, page: Path) -> None:
    """Make the page as `fairlock report` does, and say where it is; or why there is none."""
    try:
        report = import_module("fairlock_lab.commands.report")
    except ImportError as error:
        print(f"no report: {error}")
        return
    parser = argparse.ArgumentParser()
    report.add_arguments(parser)
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder) / "results.json"
            results.save(found, path)
        report.run(parser.parse_args([str(path), "--out", str(page)]))
