"""`only` of a rule or of what is `read_only`: what it lists, and whether all that is looked at is among it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from gateway.core.rule import Upstream
from gateway.core.withheld import withheld
from gateway.policy import schema
from gateway.policy.compile.listed_values import listed_texts, member_values
from gateway.policy.condition import (
    Absent,
    Condition,
    FormCondition,
    GraphqlCondition,
    HeaderCondition,
    JsonCondition,
    QueryCondition,
)
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_list
from gateway.policy.listed_headers import ListedHeaders
from gateway.policy.listed_values import NO_VALUES, MemberValues, NameValues, spelled
from gateway.policy.only import Only, Tree, tree_of
from gateway.policy.part import Part
from gateway.policy.reading.formbody import parse_field
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.reading.jsonbody import Pointer, parse_pointer
from gateway.policy.reading.lenient_name import is_unclosed
from gateway.policy.reading.ordinary_headers import OF_MCP
from gateway.policy.reading.overriding import FORM_COMMANDS, overriding_among
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.value_form import some_values

T = TypeVar("T")

# GraphQL over HTTP: where the operation stands.
_DOCUMENT = Pointer("/query", ("query",))
_NOTHING: frozenset[str] = frozenset()
_ABSENT = frozenset((Absent(),))


def compile_only(report: Report, path: Path, shape: schema.Rule, upstream: Upstream) -> Only | None:
    """None where a rule lists nothing. Faults are noted; `path` is that of the rule.

    Where a body is listed, a query that is not says nothing: Rails and Laravel take members from there as well.
    """
    listed, where = shape.only, (*path, "only")
    if listed is None:
        return None
    for kind, names in (("json", listed.json_), ("form", listed.form)):
        if names is not None and shape.upgrade is not None:
            report.add((*where, kind), "a WebSocket handshake has no body; write `query` and `header` only")
    only = _lists(report, where, listed, upstream, observed=shape.mode == "observe")
    return replace(only, query=_NOTHING) if only.lists_body and only.query is None else only


def compile_only_of_read(report: Report, path: Path, shape: schema.ReadOnly, upstream: Upstream) -> Only | None:
    """As `compile_only`. Nobody else looks at what changes nothing: as soon as one of query, JSON and form is listed,
    those that are not say nothing."""
    listed, where = shape.only, (*path, "only")
    if listed is None:
        return None
    only = _lists(report, where, listed, upstream, observed=True)
    if only.query is None and not only.lists_body:
        return only
    if not only.lists_body:
        only = replace(only, json={}, form=_NOTHING)
    return only if only.query is not None else replace(only, query=_NOTHING)


def _lists(report: Report, where: Path, listed: schema.Only, upstream: Upstream, *, observed: bool) -> Only:
    """As they are written. `observed`: it is not admitted, so that the gateway adds no field of its own."""
    every = (listed.query, listed.json_, listed.form, listed.header)
    if all(one is None for one in every):
        message = "this closes no list; write one of `query`, `json`, `form` and `header`, such as `query: []`"
        report.add(where, f"{message}, or leave it out")
    query = None if listed.query is None else _compiled(report, (*where, "query"), listed.query, str)
    members = None if listed.json_ is None else _compiled(report, (*where, "json"), listed.json_, _pointer)
    form = None if listed.form is None else _compiled(report, (*where, "form"), listed.form, _form_name)
    header = None if listed.header is None else _compiled(report, (*where, "header"), listed.header, header_to_list)
    own = OF_MCP if upstream.protocol == "mcp" else frozenset[bytes]()
    return Only(
        None if query is None else frozenset(one.name for one in query),
        None if members is None else _tree(report, members),
        None if form is None else frozenset(one.name for one in form),
        None
        if header is None
        else ListedHeaders(
            own.union(one.name for one in header),
            withheld(upstream, believed=False, observed=observed),
            is_write=not observed,
            is_conditional=upstream.conditional,
        ),
        _values(report, query or (), form or (), header or ()),
    )


@dataclass(frozen=True, slots=True)
class _Named(Generic[T]):
    """A name that is listed, where that is written, and what it may say, as far as that is listed."""

    name: T
    path: Path
    values: list[object] | None = None


def _compiled(
    report: Report,
    where: Path,
    listed: list[str | dict[str, list[object]]],
    compiled: Callable[[str], T | Wrong],
) -> tuple[_Named[T], ...]:
    """What is right of a list; of two that are one both, with a fault where one of them has values."""
    found: list[_Named[T]] = []
    known: dict[T, bool] = {}
    for at, item in enumerate(listed):
        for text, values in (item if isinstance(item, dict) else {item: None}).items():
            path: Path = (*where, at) if values is None else (*where, at, text)
            name = report.take(path, compiled(text)) if values is None else report.take_key(path, compiled(text))
            if name is None:
                continue
            if name in known and (known[name] or values is not None):
                report.take_key(path, Wrong(f"`{text}` is listed twice, with its values; remove one"))
            known[name] = values is not None
            found.append(_Named(name, path, values))
    return tuple(found)


def _values(
    report: Report,
    query: Iterable[_Named[str]],
    form: Iterable[_Named[str]],
    header: Iterable[_Named[bytes]],
) -> NameValues:
    headers = {one.name.decode("ascii"): texts for one, texts in _texts(report, header)}
    of_query = {one.name: texts for one, texts in _texts(report, query)}
    of_form = {one.name: texts for one, texts in _texts(report, form)}
    for one in form:
        if one.values is not None:
            # It is read then, and not only its name.
            report.take_key(one.path, parse_field(one.name))
    return NameValues(of_query, of_form, headers) if of_query or of_form or headers else NO_VALUES


def _texts(report: Report, listed: Iterable[_Named[T]]) -> Iterator[tuple[_Named[T], frozenset[str]]]:
    return ((one, listed_texts(report, one.path, one.values)) for one in listed if one.values is not None)


def _tree(report: Report, listed: tuple[_Named[Pointer], ...]) -> Tree:
    """What has values has nothing below it, and stands below nothing that takes all."""
    valued: list[tuple[Pointer, MemberValues]] = []
    for one in listed:
        if one.values is None:
            continue
        valued.append((one.name, member_values(report, one.path, one.values)))
        for other in listed:
            if _leads_to(one.name, other.name):
                told = f"`{other.name.text}` is listed too, and cannot stand below one of some values; remove one"
                report.take_key(one.path, Wrong(told))
            elif other.values is None and _leads_to(other.name, one.name):
                told = f"`{other.name.text}` is listed too, and with it all that stands below; remove one"
                report.take_key(one.path, Wrong(told))
    return tree_of((one.name for one in listed if one.values is None), valued)


def _leads_to(outer: Pointer, inner: Pointer) -> bool:
    """Whether what is named by the second stands below what is named by the first."""
    return len(outer.tokens) < len(inner.tokens) and inner.tokens[: len(outer.tokens)] == outer.tokens


def _pointer(text: str) -> Pointer | Wrong:
    everything = Wrong("the empty pointer is the whole body, and lists nothing; name members, such as `/fields`")
    return parse_pointer(text) if text else everything


def _form_name(text: str) -> str | Wrong:
    """With brackets or without: names are compared as they are spelled."""
    if is_unclosed(text) or hidden_in(text) or overriding_among((text,), FORM_COMMANDS):
        return Wrong(f"a form with a field {text!r} is read in two ways, and refused anyway; remove it")
    return text


def with_looked_at(only: Only | None, entry: Entry | ReadOnly) -> Only | None:
    """The lists, with the headers that the entry itself looks at."""
    if only is None or only.header is None:
        return only
    conditions = (one.name for one in entry.matcher.conditions if isinstance(one, HeaderCondition))
    parts = (part.name for part in _parts(entry) if part.origin == "header")
    own = frozenset(name.encode("ascii") for name in (*conditions, *parts))
    return replace(only, header=replace(only.header, names=only.header.names | own))


def check_only_reads(report: Report, path: Path, entry: Entry | ReadOnly) -> None:
    """What an entry looks at must be allowed to be there. `path` is that of the entry."""
    only = entry.only
    if only is None:
        return
    where = (*path, "only")
    _check_values(report, where, only, entry)
    own = "the rule itself looks at" if isinstance(entry, Entry) else "its own conditions look at"
    for name in sorted(set(_query_names(entry)) - only.query) if only.query is not None else ():
        report.add((*where, "query"), f"{own} `{name}` of the query; list it too")
    if not only.lists_body:
        return
    fields, pointers = set(_fields(entry)), set(_pointers(entry))
    if fields and only.form is None:
        report.add((*where, "json"), "the body is read as a form here, which has no JSON; list `form`")
    if pointers and only.json is None:
        report.add((*where, "form"), "the body is read as JSON here, which is no form; list `json`")
    for name in sorted(fields - only.form) if only.form is not None else ():
        report.add((*where, "form"), f"{own} `{name}` of the form; list it too")
    for pointer in sorted((one for one in pointers if not only.allows(one)), key=lambda one: one.text):
        report.add((*where, "json"), f"{own} `{pointer.text}` of the body; list it too")


def _check_values(report: Report, where: Path, only: Only, entry: Entry | ReadOnly) -> None:
    """What its conditions want must be among what may stand there, or no request has it."""
    for condition in entry.matcher.conditions:
        kind, lacking = _unlisted(only, condition)
        if lacking:
            told = f"`when` wants {some_values(lacking)} of {condition}, which is not listed here; list it too"
            report.add((*where, kind), told)


def _unlisted(only: Only, condition: Condition) -> tuple[str, list[str]]:
    """The list that a condition looks into, and what it wants and that does not allow."""
    match condition:
        case QueryCondition(name, wanted):
            return "query", _beyond(wanted, only.values.query.get(name))
        case FormCondition(name, wanted):
            return "form", _beyond(wanted, only.values.form.get(name))
        case HeaderCondition(name, wanted):
            return "header", _beyond(wanted, only.values.header.get(name))
        case JsonCondition(pointer, scalars):
            member = only.member(pointer)
            return "json", [] if member is None else [spelled(one) for one in scalars - member.plain]
    return "", []


def _beyond(wanted: frozenset[str], listed: frozenset[str] | None) -> list[str]:
    return [] if listed is None else [*(wanted - listed)]


def _parts(entry: Entry | ReadOnly) -> Iterator[Part]:
    if isinstance(entry, ReadOnly):
        return
    yield from entry.naming_parts
    yield from () if entry.compensation is None else entry.compensation.parts


def _query_names(entry: Entry | ReadOnly) -> Iterator[str]:
    yield from (part.name for part in _parts(entry) if part.origin == "query")
    yield from (one.name for one in entry.matcher.conditions if isinstance(one, QueryCondition))


def _fields(entry: Entry | ReadOnly) -> Iterator[str]:
    yield from (part.name for part in _parts(entry) if part.origin == "form")
    yield from (one.name for one in entry.matcher.conditions if isinstance(one, FormCondition))


def _pointers(entry: Entry | ReadOnly) -> Iterator[Pointer]:
    for part in _parts(entry):
        if part.pointer is not None:
            yield part.pointer
    for one in entry.matcher.conditions:
        # That nothing stands there needs no place in a list.
        if isinstance(one, JsonCondition) and one.values != _ABSENT:
            yield one.pointer
        if isinstance(one, GraphqlCondition):
            yield _DOCUMENT
    if isinstance(entry, Entry):
        yield from entry.fingerprint.pointers
        yield from (amount for amount in entry.amounts if amount is not None)
