# SPDX-License-Identifier: Apache-2.0
"""The model checker: what is explored, and how the results are shown."""
