"""What an entry reads of the body: conditions on forms and GraphQL, and what cannot be read of one body together."""

from collections.abc import Iterator

from gateway.policy import schema
from gateway.policy.compile.presence import asks_presence
from gateway.policy.condition import (
    Condition,
    FormCondition,
    GraphqlCondition,
    JsonCondition,
    PresenceCondition,
    RootField,
)
from gateway.policy.entry import Entry
from gateway.policy.reading.body_type import Kind
from gateway.policy.reading.formbody import parse_field
from gateway.policy.reading.graphql import load_parser, parse_root_field
from gateway.policy.report import Report
from gateway.policy.source import Path


def form_conditions(
    report: Report, path: Path, when: schema.When, *, closes: bool
) -> Iterator[FormCondition | PresenceCondition]:
    """`path` is that of `when`; `closes`: of an entry of `closed`."""
    for name, values in when.form.items():
        field = report.take_key((*path, "form", name), parse_field(name))
        is_asked = asks_presence(report, (*path, "form", name), values, closes=closes)
        if field is None:
            continue
        texts = frozenset(value for value in values if isinstance(value, str))
        yield PresenceCondition(FormCondition(field, frozenset())) if is_asked else FormCondition(field, texts)


def graphql_conditions(report: Report, path: Path, when: schema.When) -> Iterator[GraphqlCondition]:
    """`path` is that of `when`."""
    values: set[RootField] = set()
    for kind, names in when.graphql.items():
        if names is None:
            values.add((kind, None))
            continue
        for at, name in enumerate(names):
            field = report.take((*path, "graphql", kind, at), parse_root_field(name))
            if field is not None:
                values.add((kind, field))
    if values:
        load_parser()
        yield GraphqlCondition(frozenset(values))


def check_conditions(report: Report, path: Path, conditions: tuple[Condition, ...]) -> None:
    """Conditions that one body cannot meet, or by which a caller could choose the rule. `path` is that of `when`."""
    if len(set(_kinds(conditions))) > 1:
        report.add(path, "a body is JSON or a form, never both; write two entries, or conditions on one of them")
    pointers = [one.pointer.text for one in conditions if isinstance(one, JsonCondition)]
    if pointers and any(isinstance(one, GraphqlCondition) for one in conditions):
        report.add(
            (*path, "json", pointers[0]),
            f"`{pointers[0]}` of a GraphQL request is the caller's to choose and says nothing about its fields; remove "
            "this condition",
        )


def check_parts(report: Report, path: Path, entry: Entry) -> None:
    """What one of `writes` names its resource and its intents by, beside its conditions."""
    conditions, kinds = entry.matcher.conditions, kinds_read(entry)
    if len(kinds) > 1 and len(set(_kinds(conditions))) < 2:
        report.add(path, "this rule reads the body as JSON and as a form, and a body is never both; write two rules")
    if "form" in kinds and entry.rule.errors == "jsonrpc":
        report.add((*path, "errors"), "a form is no call that an error could name; write `problem`")
    on_graphql = entry.matcher.reads_graphql
    if on_graphql and entry.has_amounts:
        report.add(
            (*path, "budget"),
            "a variable of a GraphQL request is the caller's choice and says nothing about its fields; write `count`",
        )
    where = (*path, "resource")
    for part in entry.template.parts:
        if part.origin == "graphql" and not on_graphql:
            report.add(
                where,
                f"`{{{part.text}}}` is an argument of a mutation's fields; say of which under `when: {{graphql: "
                "{mutation: [...]}}`",
            )
        if part.origin == "json" and on_graphql:
            report.add(
                where,
                f"`{{{part.text}}}` of a GraphQL request is the caller's to choose: its document says which argument a "
                "variable becomes; write the argument, such as `{graphql.id}` or `{graphql.input.id}`",
            )
    if any(kind == "subscription" for one in conditions if isinstance(one, GraphqlCondition) for kind, _ in one.values):
        report.add((*path, "when", "graphql"), "a subscription changes nothing; name it under `read_only`")


def kinds_read(entry: Entry) -> set[Kind]:
    """What a rule reads the body as, whatever takes its writes back."""
    kinds = set(_kinds(entry.matcher.conditions))
    kinds.update(part.reads for part in entry.naming_parts if part.reads is not None)
    return kinds | {"json"} if entry.has_amounts or entry.fingerprint.needs_json else kinds


def _kinds(conditions: tuple[Condition, ...]) -> Iterator[Kind]:
    for condition in conditions:
        match condition.of if isinstance(condition, PresenceCondition) else condition:
            case JsonCondition() | GraphqlCondition():
                yield "json"
            case FormCondition():
                yield "form"
