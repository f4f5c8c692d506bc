# SPDX-License-Identifier: Apache-2.0
"""Run a suite of the standard library on fairlock's locks: suite_under_install.py SUITE [TEST LEFT OUT ...]."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Iterator

import fairlock

fairlock.install()  # before the suite takes anything from threading

name, *left_out = sys.argv[1:]


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from cases(test)
        elif test.id().removeprefix(f"{name}.") not in left_out:
            yield test


if __name__ == "__main__":
    wanted = unittest.TestSuite(cases(unittest.defaultTestLoader.loadTestsFromName(name)))
    result = unittest.TextTestRunner(verbosity=1).run(wanted)
    sys.exit(not (result.wasSuccessful() and result.testsRun > 0))
