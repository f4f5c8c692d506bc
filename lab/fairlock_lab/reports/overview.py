# SPDX-License-Identifier: Apache-2.0
"""All results of a file as text: what ``fairlock bench`` prints, and what a notebook shows."""

from __future__ import annotations

from fairlock_lab.benchmarks.blocks import Block, to_html, to_text
from fairlock_lab.benchmarks.request import ROW_WORKLOADS
from fairlock_lab.benchmarks.results import BenchResults
from fairlock_lab.reports import short_table, tables, targets_table


def blocks(results: BenchResults) -> list[Block]:
    """Return the tables of a workload, and the machine above them."""
    workload = results.plan.workload
    head: list[Block] = [tables.head(results)]
    if workload in ROW_WORKLOADS:
        return head + ROW_WORKLOADS[workload].blocks(results)
    if workload == "short":
        return head + short_table.blocks(results)
    return head + tables.blocks(results) + (targets_table.blocks(results) if workload == "targets" else [])


def text(results: BenchResults) -> str:
    return to_text(blocks(results))


def html(results: BenchResults) -> str:
    return to_html(blocks(results))
