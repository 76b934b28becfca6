"""A process whose clock a file sets, by libfaketime (`apt-get install libfaketime`)."""

from pathlib import Path

LIBRARY = next(Path("/usr/lib").glob("**/faketime/libfaketime.so.1"), None)
"""None where it is not installed."""


def faking(clock: Path) -> dict[str, str]:
    """The environment of a process that reads in `clock` how far its clock is off, not at all for now."""
    assert LIBRARY is not None
    clock.write_text("+0s\n")
    told = {"FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    return {"LD_PRELOAD": str(LIBRARY), **told}
