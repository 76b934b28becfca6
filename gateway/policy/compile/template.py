"""Templates of a rule, checked against what its patterns have and what a rule may read."""

from gateway.core.rule import Upstream
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_that_arrives, header_to_read
from gateway.policy.part import Part
from gateway.policy.pattern import Pattern, placeholder_names, rests_of
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.template import RESOURCE, Naming, Template, parse_template


def compile_template(
    report: Report, where: Path, text: str, patterns: tuple[Pattern, ...], naming: Naming = RESOURCE
) -> Template | None:
    """The template; None with its faults noted. Faults of a part are noted beside it."""
    template = report.take(where, parse_template(text, rests_of(patterns), naming))
    if template is None:
        return None
    for part in template.parts:
        if part.origin == "header":
            report.take(where, header_to_read(part.name))
        if part.origin in ("path", "rest"):
            for pattern in patterns:
                check_path_part(report, where, part, pattern)
    return template


def check_arriving(report: Report, where: Path, template: Template, upstream: Upstream) -> None:
    """What names a resource reaches the upstream: else two resources here could be one there.

    An idempotency key does in any case, as its digest.
    """
    for part in template.parts:
        if part.origin == "header" and not isinstance(header_to_read(part.name), Wrong):
            report.take(where, header_that_arrives(part.name, upstream))


def check_path_part(report: Report, where: Path, part: Part, pattern: Pattern) -> None:
    """Whether a pattern has the placeholder that `part` takes, and as one segment or as many."""
    if part.name not in placeholder_names(pattern):
        report.add(where, f"`{pattern.text}` has no `{{{part.name}}}`; add it to the match, or use another part")
    elif (pattern.rest == part.name) != (part.origin == "rest"):
        report.add(where, f"`{{{part.name}}}` is one segment in `{pattern.text}` and more in another; rename one")
