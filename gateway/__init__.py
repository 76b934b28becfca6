"""fencegate: the write gateway in front of the APIs that agents write to."""

__version__ = "0.1.0"
