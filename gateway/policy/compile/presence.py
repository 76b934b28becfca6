"""`{present: true}` in the place of a value: whether a name is there at all, which only what is closed may ask."""

from collections.abc import Sequence

from gateway.policy import schema
from gateway.policy.report import Report
from gateway.policy.source import Path


def asks_presence(report: Report, path: Path, values: Sequence[object], *, closes: bool) -> bool:
    """Whether the values of a condition are this one. Faults are noted; `closes`: of an entry of `closed`."""
    if not any(map(_is_presence, values)):
        return False
    if not closes:
        message = "whether a name is there is asked under `closed` only; write a value, or an entry of `closed`"
        report.add(path, message)
    elif list(values) not in ([{"present": True}], [schema.Presence(present=True)]):
        report.add(path, "write `{present: true}` alone; leave out what may be absent")
    return True


def _is_presence(value: object) -> bool:
    return isinstance(value, schema.Presence) or (isinstance(value, dict) and "present" in value)
