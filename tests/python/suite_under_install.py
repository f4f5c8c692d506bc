# SPDX-License-Identifier: Apache-2.0
"""Run a test suite of the standard library on fairlock's locks: suite_under_install.py SUITE [EXCLUDED TEST ...]."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Iterator

import fairlock

fairlock.install()  # before the suite imports names from threading

name, *excluded = sys.argv[1:]


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        elif test.id().removeprefix(f"{name}.") not in excluded:
            yield test


if __name__ == "__main__":
    selected = unittest.TestSuite(cases(unittest.defaultTestLoader.loadTestsFromName(name)))
    result = unittest.TextTestRunner(verbosity=1).run(selected)
    sys.exit(not (result.wasSuccessful() and result.testsRun > 0))
