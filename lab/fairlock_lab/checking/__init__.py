# SPDX-License-Identifier: Apache-2.0
"""The model checker: what it explores, how it runs, and its results."""
