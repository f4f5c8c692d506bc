# SPDX-License-Identifier: Apache-2.0
"""Reports: results as text, as a page with figures, and the comparison of two results files."""
