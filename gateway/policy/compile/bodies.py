"""`mount.bodies`: which types of bodies an upstream is sent, by the names of three kinds and by their own."""

from gateway.policy import schema
from gateway.policy.compile.json_types import parse_media_type
from gateway.policy.finding import Wrong
from gateway.policy.reading.body_type import FORM, MULTIPART
from gateway.policy.report import Report


def compile_bodies(report: Report, mount: schema.Mount, json_types: frozenset[bytes]) -> frozenset[bytes] | None:
    """The types in lower case; None where any is sent. Faults are noted. `json_types`: what `json` stands for."""
    if mount.bodies == ["any"]:
        return None
    taken: set[bytes] = set()
    for at, name in enumerate(mount.bodies):
        path = ("mount", "bodies", at)
        found = report.take(path, parse_body(name, json_types))
        if found is not None and found <= taken:
            report.add(path, f"`{name}` is among those before it; remove it")
        taken |= found or frozenset()
    return frozenset(taken)


def parse_body(name: str, json_types: frozenset[bytes]) -> frozenset[bytes] | Wrong:
    """The types of a kind, or the one that is written out."""
    match name:
        case "json":
            return json_types
        case "form":
            return frozenset((FORM,))
        case "multipart":
            return frozenset((MULTIPART,))
    found = parse_media_type(name)
    if isinstance(found, Wrong):
        return Wrong(
            f"`{name}` is no kind of body; write `json`, `form`, `multipart`, or one media type such as `text/csv`, "
            "without parameters or `*`"
        )
    return frozenset((found,))
