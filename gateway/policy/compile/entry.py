"""The entries of `writes`, `read_only` and `closed`: patterns, conditions, and of rules how writes are fenced."""

from collections.abc import Iterator
from dataclasses import replace

from gateway.core.rule import Fence, Rule, Upstream
from gateway.core.token import TokenSource
from gateway.policy import schema
from gateway.policy.compile.body import check_conditions, check_parts, form_conditions, graphql_conditions
from gateway.policy.compile.budget import check_retain, compile_amounts, compile_budgets
from gateway.policy.compile.compensation import check_compensation_reads, compile_compensation
from gateway.policy.compile.intent import compile_fingerprint, compile_key, intent_terms
from gateway.policy.compile.json_types import parse_media_type
from gateway.policy.compile.listed_values import compiled
from gateway.policy.compile.message import check_messages, message_conditions
from gateway.policy.compile.only import check_only_reads, compile_only, compile_only_of_read, with_looked_at
from gateway.policy.compile.parking import approval_s, check_parked_reads, check_parking, parks
from gateway.policy.compile.presence import asks_presence
from gateway.policy.compile.signed import compile_signed
from gateway.policy.compile.template import check_arriving, compile_template
from gateway.policy.compile.upgrade import check_upgrade, check_upgrade_reads
from gateway.policy.compile.values import with_values
from gateway.policy.condition import (
    Condition,
    HeaderCondition,
    JsonCondition,
    PresenceCondition,
    QueryCondition,
    Scalar,
    contradiction,
    parse_scalar,
)
from gateway.policy.entry import Entry, Matcher, ReadOnly
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_that_arrives
from gateway.policy.lenient.bare_plus import plus_fault
from gateway.policy.lenient.encoded_slash import slash_fault
from gateway.policy.pattern import Pattern, parse_pattern
from gateway.policy.reading.body_type import CONTENT_TYPE
from gateway.policy.reading.jsonbody import parse_pointer
from gateway.policy.report import Report
from gateway.policy.secret import Secrets
from gateway.policy.source import Path


def compile_write(report: Report, at: int, policy: schema.Policy, upstream: Upstream, secrets: Secrets) -> Entry | None:
    """One of `writes`, or None with its faults noted."""
    path: Path = ("writes", at)
    shape = policy.writes[at]
    _check_promises(report, path, shape, policy.capabilities)
    check_upgrade(report, path, shape, upstream)
    check_parking(report, path, shape)
    check_retain(report, path, shape, upstream.timeouts.total_s)
    matcher = compile_matcher(report, path, shape, upstream)
    template = compile_template(report, (*path, "resource"), shape.resource, matcher.patterns)
    rule = _rule(report, at, policy, upstream, secrets)
    key = compile_key(report, (*path, "intent"), shape.intent, matcher.patterns)
    fingerprint = compile_fingerprint(report, (*path, "intent"), shape.intent)
    compensation = compile_compensation(report, path, shape, upstream, matcher.patterns)
    amounts = compile_amounts(report, path, shape)
    only = compile_only(report, path, shape, upstream)
    if template is None:
        return None
    template, places = with_values(report, path, shape.values, template, matcher)
    check_arriving(report, (*path, "resource"), template, upstream)
    weight = shape.effect.weight
    entry = Entry(matcher, rule, template, key, fingerprint, compensation, weight, amounts, only, places)
    entry = replace(entry, only=with_looked_at(only, entry))
    _check_reads(report, path, entry)
    return entry


def _rule(report: Report, at: int, policy: schema.Policy, upstream: Upstream, secrets: Secrets) -> Rule:
    """What admission and forwarding need of it; faults are noted."""
    path: Path = ("writes", at)
    shape = policy.writes[at]
    return Rule(
        name=shape.name,
        upstream=upstream,
        authority="signed" if isinstance(shape.authority, schema.SignedAuthority) else shape.authority,
        token_from=_token_from(report, path, shape, upstream),
        signed=compile_signed(report, path, shape, secrets),
        revision=shape.revision,
        fence=_fence(shape.fence),
        intent=intent_terms(shape.intent, policy.capabilities.query, policy.timeouts.late, shape.mode),
        errors=shape.errors,
        mode=shape.mode,
        upgrade=shape.upgrade,
        on_stale=shape.on_stale,
        parks=parks(shape),
        approval_s=approval_s(shape),
        risk=shape.effect.risk,
        budgets=compile_budgets(report, path, shape),
    )


def _check_reads(report: Report, path: Path, entry: Entry) -> None:
    for check in (check_parts, check_parked_reads, check_upgrade_reads, check_compensation_reads, check_only_reads):
        check(report, path, entry)


def _token_from(report: Report, path: Path, shape: schema.Rule, upstream: Upstream) -> tuple[TokenSource, ...]:
    if shape.token_from is None:
        return upstream.token_from
    if len(set(shape.token_from)) < len(shape.token_from):
        report.add((*path, "token_from"), "a source of the token stands here twice; remove one")
    return tuple(shape.token_from)


def _fence(shape: schema.Fence) -> Fence:
    timeouts = shape.queue_timeout, shape.drain_timeout
    return Fence(shape.order, shape.concurrency, *timeouts, shape.sequence, shape.after_unknown)


def compile_read_only(report: Report, at: int, shape: schema.ReadOnly, upstream: Upstream) -> ReadOnly:
    """One of `read_only`; its faults are noted."""
    path: Path = ("read_only", at)
    entry = ReadOnly(
        compile_matcher(report, path, shape, upstream), compile_only_of_read(report, path, shape, upstream)
    )
    check_only_reads(report, path, entry)
    return replace(entry, only=with_looked_at(entry.only, entry))


def _check_promises(report: Report, path: Path, rule: schema.Rule, capabilities: schema.Capabilities) -> None:
    if rule.revision == "gateway" and rule.fence.concurrency == "parallel":
        report.add(
            (*path, "fence", "concurrency"),
            "`revision: gateway` counts writes one by one; write `concurrency: serial`, or `revision: 'off'`",
        )
    if rule.on_stale == "quarantine" and rule.mode == "observe":
        report.add((*path, "on_stale"), "a rule that observes forwards what comes too late; write `reject`")
    _check_unknown(report, (*path, "intent", "on_unknown"), rule.intent, capabilities)
    if rule.effect.risk == "high":
        _check_guard(report, path, rule, has_native_key=capabilities.idempotency_key is not None)


def _check_guard(report: Report, path: Path, rule: schema.Rule, *, has_native_key: bool) -> None:
    """The upstream is sent the keys of intents, and no others."""
    if rule.approval != "none" or rule.intent.mode == "required" or (has_native_key and rule.intent.mode == "optional"):
        return
    what = (
        ", and without intents no key reaches the upstream; write `intent: {mode: required}` (or `optional`)"
        if has_native_key
        else "; write `intent: {mode: required}`, or `intent: {mode: optional}` and `capabilities: {idempotency_key: "
        "HEADER}` if the upstream honours a key"
    )
    why = f"`risk: high` wants a guard against a second execution{what}, or `approval: required`, or `risk: low`"
    report.add((*path, "effect", "risk"), why)


def _check_unknown(report: Report, path: Path, intent: schema.Intent, capabilities: schema.Capabilities) -> None:
    if intent.on_unknown == "retry" and capabilities.idempotency_key is None:
        report.add(
            path,
            "`retry` could execute twice; write `capabilities: {idempotency_key: HEADER}` if the upstream honours a "
            "key, or `on_unknown: hold`",
        )
    if intent.on_unknown == "query" and capabilities.query is None:
        report.add(path, "there is no `capabilities.query` to ask; write `hold`")
    if intent.on_unknown != "hold" and intent.mode == "off":
        report.add(
            path,
            f"without intents there is nothing to {intent.on_unknown}; write `mode: required` (or `optional`) beside "
            "it, or `on_unknown: hold`",
        )


def compile_matcher(
    report: Report, path: Path, shape: schema.Rule | schema.ReadOnly | schema.Closed, upstream: Upstream
) -> Matcher:
    """Which requests an entry takes; its faults are noted. `path` is the entry's."""
    when, closes = shape.when, isinstance(shape, schema.Closed)
    upgrades = isinstance(shape, schema.Rule) and shape.upgrade is not None
    patterns: list[Pattern] = []
    places = []
    for at, text in enumerate(shape.match or ()):
        where = (*path, "match", at)
        pattern = report.take(where, parse_pattern(text, upgrades=upgrades, closes=closes))
        if pattern is None:
            continue
        if not _is_under(pattern, upstream.mount.segments):
            mount = "/" + "/".join(upstream.mount.segments)
            report.add(where, f"`{text}` is outside the mount and can never match; begin its path with `{mount}`")
        if pattern.segments[:2] == ("-", "fence"):
            report.add(where, "`/-/fence/` is the gateway's own and can never match; write another path")
        # What is closed is closed in both spellings, and reads may have either.
        texts = (plus_fault(text.partition(" ")[2], upstream.mount), slash_fault(pattern, upstream.mount))
        fault = None if closes else next(filter(None, texts), None)
        if fault is not None:
            report.add(where, fault)
        patterns.append(pattern)
        places.append(report.place(where))
    messages = message_conditions(report, (*path, "when"), when, upstream)
    conditions = (*_conditions(report, (*path, "when"), when, upstream, closes=closes), *messages)
    check_conditions(report, (*path, "when"), conditions)
    never = contradiction(conditions)
    if never is not None:
        report.add((*path, "when"), never)
    matcher = Matcher(upstream, tuple(patterns), tuple(places), conditions, report.place(path))
    check_messages(report, path, when, matcher, closes=closes)
    return matcher


def _is_under(pattern: Pattern, mount: tuple[str, ...]) -> bool:
    own = pattern.segments
    if len(own) < len(mount) and pattern.rest is None:
        return False
    return all(segment is None or segment == other for segment, other in zip(own, mount, strict=False))


def _conditions(
    report: Report, path: Path, when: schema.When, upstream: Upstream, *, closes: bool
) -> Iterator[Condition]:
    """Headers and query first: where they do not hold, the body need not be read."""
    for name, values in when.header.items():
        lower = report.take_key((*path, "header", name), header_that_arrives(name, upstream))
        if asks_presence(report, (*path, "header", name), values, closes=closes):
            yield PresenceCondition(HeaderCondition(lower or "", frozenset()))
            continue
        texts = frozenset(compiled(report, (*path, "header", name), values, _type if lower == CONTENT_TYPE else _text))
        if lower is not None and texts:
            yield HeaderCondition(lower, texts)
    for name, values in when.query.items():
        if asks_presence(report, (*path, "query", name), values, closes=closes):
            yield PresenceCondition(QueryCondition(name, frozenset()))
            continue
        texts = frozenset(compiled(report, (*path, "query", name), values, _text))
        if texts:
            yield QueryCondition(name, texts)
    yield from form_conditions(report, path, when, closes=closes)
    yield from graphql_conditions(report, path, when)
    for text, values in when.json_.items():
        pointer = report.take_key((*path, "json", text), parse_pointer(text))
        if asks_presence(report, (*path, "json", text), values, closes=closes):
            if pointer is not None:
                yield PresenceCondition(JsonCondition(pointer, frozenset()))
            continue
        scalars: frozenset[Scalar] = frozenset(compiled(report, (*path, "json", text), values, parse_scalar))
        if pointer is not None and scalars:
            yield JsonCondition(pointer, scalars)


def _text(value: object) -> str | Wrong:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    return Wrong("a header or query parameter is text; put the value in quotes")


def _type(value: object) -> str | Wrong:
    """Of Content-Type the type alone is compared, whatever follows it."""
    text = str(value)
    alone, semicolon, _ = text.partition(";")
    if semicolon:
        return Wrong(f"of Content-Type the type alone is compared, whatever follows it; write `{alone.strip()}`")
    found = parse_media_type(text)
    return found if isinstance(found, Wrong) else found.decode("ascii")
