"""`mount.format_endings`: what an upstream's server takes for a format at the end of a path."""

import re

from gateway.core.format_ending import FormatEndings
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.report import Report

_ENDING = re.compile("[0-9A-Za-z_+-]+")


def compile_format_endings(report: Report, mount: schema.Mount) -> FormatEndings | None:
    """None where endings are no formats. Faults are noted."""
    if mount.format_endings == "opaque":
        return None
    if mount.format_endings == "refuse":
        return FormatEndings()
    taken = report.take_each(("mount", "format_endings"), mount.format_endings, parse_ending)
    return FormatEndings(frozenset(taken))


def parse_ending(name: str) -> str | Wrong:
    """One ending in lower case: servers that know some tell no case."""
    if not _ENDING.fullmatch(name):
        return Wrong(f"`{name}` is no ending of a path; write what follows its last dot, such as `json`")
    return name.lower()
