"""The entries of `writes` and `read_only`: patterns, conditions, the resource's template, and how writes are fenced."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import TypeVar

from gateway.core.rule import Fence, Rule, Upstream
from gateway.policy import schema
from gateway.policy.condition import (
    Condition,
    HeaderCondition,
    JsonCondition,
    QueryCondition,
    Scalar,
    contradiction,
    scalar,
)
from gateway.policy.entry import Entry, Matcher, ReadOnly
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_read
from gateway.policy.jsonbody import parse_pointer
from gateway.policy.pattern import Pattern, parse_pattern, placeholder_names
from gateway.policy.report import Report
from gateway.policy.source import Path
from gateway.policy.template import Template, parse_template
from gateway.policy.unsupported import unsupported_in_rule

T = TypeVar("T")


def compile_write(
    report: Report, at: int, shape: schema.Rule, policy: schema.Policy, upstream: Upstream
) -> Entry | None:
    """One of `writes`, or None with its faults noted."""
    path: Path = ("writes", at)
    for fault in unsupported_in_rule(shape):
        report.add((*path, *fault.path), fault.message)
    _check_promises(report, path, shape, policy.capabilities)
    matcher = _matcher(report, path, shape.match, shape.when, upstream)
    template = _template(report, path, shape.resource, matcher.patterns)
    token_from = upstream.token_from if shape.token_from is None else tuple(shape.token_from)
    if len(set(token_from)) < len(token_from):
        report.add((*path, "token_from"), "a source of the token stands here twice; remove one")
    if template is None or isinstance(shape.authority, schema.SignedAuthority):
        return None
    fence = shape.fence
    rule = Rule(
        name=shape.name,
        upstream=upstream,
        authority=shape.authority,
        token_from=token_from,
        revision=shape.revision,
        fence=Fence(fence.order, fence.concurrency, fence.queue_timeout, fence.drain_timeout, fence.sequence),
    )
    return Entry(matcher, rule, template)


def compile_read_only(report: Report, at: int, shape: schema.ReadOnly, upstream: Upstream) -> ReadOnly:
    """One of `read_only`; its faults are noted."""
    return ReadOnly(_matcher(report, ("read_only", at), shape.match, shape.when, upstream))


def _check_promises(report: Report, path: Path, rule: schema.Rule, capabilities: schema.Capabilities) -> None:
    if rule.revision == "gateway" and rule.fence.concurrency == "parallel":
        report.add(
            (*path, "fence", "concurrency"),
            "`revision: gateway` counts writes one by one; write `concurrency: serial`, or `revision: 'off'`",
        )
    if rule.intent.on_unknown == "retry" and capabilities.idempotency_key is None:
        report.add(
            (*path, "intent", "on_unknown"),
            "`retry` could execute twice; write `capabilities: {idempotency_key: HEADER}` if the upstream honours a "
            "key, or `on_unknown: hold`",
        )
    if rule.intent.on_unknown == "query" and capabilities.query is None:
        report.add((*path, "intent", "on_unknown"), "there is no `capabilities.query` to ask; write `hold`")
    if rule.effect.risk == "high" and capabilities.idempotency_key is None:
        report.add(
            (*path, "effect", "risk"),
            "`risk: high` wants a guard against a second execution; write `capabilities: {idempotency_key: HEADER}` "
            "if the upstream honours a key, or `risk: low`",
        )


def _matcher(report: Report, path: Path, texts: list[str], when: schema.When, upstream: Upstream) -> Matcher:
    patterns: list[Pattern] = []
    places = []
    for at, text in enumerate(texts):
        where = (*path, "match", at)
        pattern = report.take(where, parse_pattern(text))
        if pattern is None:
            continue
        if not _is_under(pattern, upstream.mount.segments):
            mount = "/" + "/".join(upstream.mount.segments)
            report.add(where, f"`{text}` is outside the mount and can never match; begin its path with `{mount}`")
        if pattern.segments[:2] == ("-", "fence"):
            report.add(where, "`/-/fence/` is the gateway's own and can never match; write another path")
        patterns.append(pattern)
        places.append(report.place(where))
    conditions = tuple(_conditions(report, (*path, "when"), when))
    never = contradiction(conditions)
    if never is not None:
        report.add((*path, "when"), never)
    return Matcher(upstream, tuple(patterns), tuple(places), conditions, report.place(path))


def _is_under(pattern: Pattern, mount: tuple[str, ...]) -> bool:
    own = pattern.segments
    if len(own) < len(mount) and pattern.rest is None:
        return False
    return all(segment is None or segment == other for segment, other in zip(own, mount, strict=False))


def _conditions(report: Report, path: Path, when: schema.When) -> Iterator[Condition]:
    """Headers and query first: where they do not hold, the body need not be read."""
    for name, values in when.header.items():
        lower = report.take_key((*path, "header", name), header_to_read(name))
        texts = _compiled(report, (*path, "header", name), values, _text)
        if lower is not None and texts:
            yield HeaderCondition(lower, texts)
    for name, values in when.query.items():
        texts = _compiled(report, (*path, "query", name), values, _text)
        if texts:
            yield QueryCondition(name, texts)
    for text, values in when.json_.items():
        pointer = report.take_key((*path, "json", text), parse_pointer(text))
        scalars: frozenset[Scalar] = _compiled(report, (*path, "json", text), values, _scalar)
        if pointer is not None and scalars:
            yield JsonCondition(pointer, scalars)


def _compiled(
    report: Report, path: Path, values: list[object], compiled: Callable[[object], T | Wrong]
) -> frozenset[T]:
    taken = (report.take((*path, at), compiled(value)) for at, value in enumerate(values))
    return frozenset(value for value in taken if value is not None)


def _text(value: object) -> str | Wrong:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    return Wrong("a header or query parameter is text; put the value in quotes")


def _scalar(value: object) -> Scalar | Wrong:
    if value is None or isinstance(value, bool | int | str | Decimal):
        compiled = scalar(value)
        if compiled is not None:
            return compiled
    return Wrong("only text, numbers, true, false and null can be compared; point at one with a longer pointer")


def _template(report: Report, path: Path, text: str, patterns: tuple[Pattern, ...]) -> Template | None:
    where = (*path, "resource")
    rests = frozenset(pattern.rest for pattern in patterns if pattern.rest is not None)
    template = report.take(where, parse_template(text, rests))
    if template is None:
        return None
    for part in template.parts:
        if part.origin == "header":
            report.take(where, header_to_read(part.name))
        if part.origin not in ("path", "rest"):
            continue
        for pattern in patterns:
            if part.name not in placeholder_names(pattern):
                report.add(
                    where, f"`{pattern.text}` has no `{{{part.name}}}`; add it to the match, or use another part"
                )
            elif (pattern.rest == part.name) != (part.origin == "rest"):
                report.add(
                    where, f"`{{{part.name}}}` is one segment in `{pattern.text}` and more in another; rename one"
                )
    return template
