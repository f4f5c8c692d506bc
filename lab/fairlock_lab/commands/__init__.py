"""The commands that the lab adds to ``fairlock``: one module for each."""
