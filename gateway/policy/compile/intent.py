"""A rule's `intent`: how its writes are named and compared, and how an intent is kept."""

from dataclasses import replace

from gateway.core.rule import IntentTerms, Mode
from gateway.policy import schema
from gateway.policy.compile.template import compile_template
from gateway.policy.fingerprint import NO_FINGERPRINT, Fingerprint, parse_fingerprint
from gateway.policy.key import KEY, Key
from gateway.policy.pattern import Pattern
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.template import Template


def intent_terms(shape: schema.Intent, query: schema.Query | None, late_s: float, mode: Mode) -> IntentTerms:
    """`query` and `late_s` are the upstream's: that a write was applied counts at once, that it was not only later.

    Where writes are only observed nobody asks: repeats are forwarded, and "more than once" would pause the resource.
    """
    terms = IntentTerms(shape.mode, shape.retain, shape.store_response, shape.on_unknown)
    if query is None or shape.on_unknown != "query" or mode != "enforce":
        return terms
    return replace(terms, ask_after_s=query.not_before, no_after_s=late_s + query.not_before)


def compile_key(report: Report, path: Path, shape: schema.Intent, patterns: tuple[Pattern, ...]) -> Key | None:
    """Where the key is found; None without intents, or with faults noted. Faults are found without intents too."""
    is_on = shape.mode != "off"
    templates: list[Template] = []
    for at, text in enumerate(shape.key):
        where: Path = (*path, "key", at)
        # Defaults may name what a rule without intents does not have.
        template = compile_template(report, where, text, patterns if is_on else (), KEY)
        if template is None:
            continue
        if text in shape.key[:at]:
            report.add(where, f"`{text}` stands here twice; remove one")
        if not _names_something(template):
            report.add(
                where,
                f"`{text}` is one key for all: every write to one target would be a repeat of the first; write such as "
                f"`{KEY.example}`",
            )
        templates.append(template)
    return Key(tuple(templates), required=shape.mode == "required") if is_on and templates else None


def _names_something(template: Template) -> bool:
    """Whether two writes of a tenant can have different keys. An intent is its tenant's anyway."""
    return any(part.origin != "tenant" for part in template.parts)


def compile_fingerprint(report: Report, path: Path, shape: schema.Intent) -> Fingerprint:
    fingerprint = report.take((*path, "fingerprint"), parse_fingerprint(shape.fingerprint))
    return NO_FINGERPRINT if shape.mode == "off" or fingerprint is None else fingerprint
