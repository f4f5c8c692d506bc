# SPDX-License-Identifier: Apache-2.0
"""The commands that the lab adds to ``fairlock``: one module for each."""
