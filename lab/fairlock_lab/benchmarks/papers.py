# SPDX-License-Identifier: Apache-2.0
"""The papers whose workloads and claims the lab repeats."""

TWA_PAPER = "TWA (Euro-Par 2019)"
SEMAPHORE_PAPER = "Semaphores with a Waiting Array (2025)"
HAPAX_PAPER = "Hapax Locks (PPoPP 2026)"
CAPACITOR_PAPER = "Capacitors"
