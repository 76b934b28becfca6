"""Durations and sizes as policies spell them."""

import re

# For JSON Schema, whose patterns match anywhere in a text.
DURATION = "^[0-9]{1,9}(ms|s|m|h|d)$"
SIZE = "^[0-9]{1,15}(B|KiB|MiB|GiB|TiB)?$"

_DURATION = re.compile("([0-9]{1,9})(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile("([0-9]{1,15})(B|KiB|MiB|GiB|TiB)?")
_BYTES = {None: 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def parse_duration(text: str) -> float | None:
    """Seconds of `250ms`, `2s`, `5m`, `24h` or `1d`; None if it is none of these."""
    found = _DURATION.fullmatch(text)
    return int(found[1]) * _SECONDS[found[2]] if found else None


def parse_size(text: str) -> int | None:
    """Bytes of `64KiB`, `10MiB`, `1GiB` or a plain count; None if it is none of these. Powers of 1024 only."""
    found = _SIZE.fullmatch(text)
    return int(found[1]) * _BYTES[found[2]] if found else None
