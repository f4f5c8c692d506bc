# SPDX-License-Identifier: Apache-2.0
"""The lab of fairlock: the catalogue of locks, the model checker, the benchmarks and their reports."""

__version__ = "0.1.0"
