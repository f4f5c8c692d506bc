"""The model checker: what is explored, and how the results are shown."""
