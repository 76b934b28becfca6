"""A rule's `only`: what it lists, and whether all that the rule itself looks at is among it."""

from collections.abc import Iterator

from gateway.policy import schema
from gateway.policy.condition import FormCondition, GraphqlCondition, JsonCondition, QueryCondition
from gateway.policy.entry import Entry
from gateway.policy.finding import Wrong
from gateway.policy.only import Only, tree_of
from gateway.policy.part import Part
from gateway.policy.reading.jsonbody import Pointer, parse_pointer
from gateway.policy.report import Report
from gateway.policy.source import Path

# GraphQL over HTTP: where the operation stands.
_DOCUMENT = Pointer("/query", ("query",))


def compile_only(report: Report, path: Path, shape: schema.Rule) -> Only | None:
    """None where a rule lists nothing. Faults are noted; `path` is that of the rule."""
    listed = shape.only
    if listed is None:
        return None
    where = (*path, "only")
    if listed.query is None and listed.json_ is None:
        report.add(where, "this closes no list; write `query: [...]` or `json: [...]`, or leave it out")
    if listed.json_ is not None and shape.upgrade is not None:
        report.add((*where, "json"), "a WebSocket handshake has no body; write `query` only")
    query = frozenset(listed.query or ())
    if listed.json_ is None:
        return Only(query)
    pointers = [
        report.take((*where, "json", at), parse_pointer(text) if text else _everything())
        for at, text in enumerate(listed.json_)
    ]
    return Only(query, tree_of(pointer for pointer in pointers if pointer is not None))


def _everything() -> Wrong:
    return Wrong("the empty pointer is the whole body, and lists nothing; name members, such as `/fields`")


def check_only_reads(report: Report, path: Path, entry: Entry) -> None:
    """What a rule looks at must be allowed to be there. `path` is that of the rule."""
    only = entry.only
    if only is None:
        return
    for name in sorted(set(_query_names(entry)) - only.query):
        report.add((*path, "only", "query"), f"the rule itself looks at `{name}` of the query; list it too")
    if only.json is None:
        return
    if any(isinstance(one, FormCondition) for one in entry.matcher.conditions) or any(
        part.origin == "form" for part in _parts(entry)
    ):
        report.add((*path, "only", "json"), "this rule reads the body as a form, which has no JSON; remove this")
    for pointer in sorted({one for one in _pointers(entry) if not only.allows(one)}, key=lambda one: one.text):
        report.add((*path, "only", "json"), f"the rule itself looks at `{pointer.text}` of the body; list it too")


def _parts(entry: Entry) -> Iterator[Part]:
    yield from entry.template.parts
    for template in () if entry.key is None else entry.key.templates:
        yield from template.parts
    slots = () if entry.compensation is None else entry.compensation.slots
    yield from (slot.part for slot in slots if isinstance(slot.part, Part))


def _query_names(entry: Entry) -> Iterator[str]:
    yield from (part.name for part in _parts(entry) if part.origin == "query")
    yield from (one.name for one in entry.matcher.conditions if isinstance(one, QueryCondition))


def _pointers(entry: Entry) -> Iterator[Pointer]:
    for part in _parts(entry):
        if part.pointer is not None:
            yield part.pointer
    for one in entry.matcher.conditions:
        if isinstance(one, JsonCondition):
            yield one.pointer
        if isinstance(one, GraphqlCondition):
            yield _DOCUMENT
    yield from entry.fingerprint.pointers
    yield from (amount for amount in entry.amounts if amount is not None)
