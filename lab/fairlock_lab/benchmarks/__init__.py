# SPDX-License-Identifier: Apache-2.0
"""The benchmarks: what can be measured, in which order, and what the results say."""
