# SPDX-License-Identifier: Apache-2.0
"""The commands that the lab adds to ``fairlock``. Each is a thin layer over a function of ``fairlock_lab``."""
