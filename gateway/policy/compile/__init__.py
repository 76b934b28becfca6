"""The shape of a policy file (`schema.py`) becomes entries of a rule set: a module for each part of a file.

`file.py` is where it begins. Every fault of a file is found, not only the first, each with its line and column.
"""
