"""A file's shape becomes an upstream and its entries. Every fault of the file is found, not only the first."""

import re
from itertools import chain

from gateway.core.rule import DEFAULT_OUTCOMES, Limits, Mount, NativeKey, Origin, Protocol, Timeouts, Tls, Upstream
from gateway.core.target import Ambiguous, Target, read_target
from gateway.policy import schema
from gateway.policy.compile.bodies import compile_bodies
from gateway.policy.compile.closed import compile_closed
from gateway.policy.compile.entry import compile_read_only, compile_write
from gateway.policy.compile.format_endings import compile_format_endings
from gateway.policy.compile.json_types import compile_json_types
from gateway.policy.compile.notify import compile_notify
from gateway.policy.compile.query import compile_query
from gateway.policy.compile.tls import compile_tls
from gateway.policy.compile.via import compile_via
from gateway.policy.entry import Policy
from gateway.policy.finding import Finding, Wrong
from gateway.policy.header_name import header_to_replay, header_to_send
from gateway.policy.lenient.bare_plus import plus_fault
from gateway.policy.name import parse_name
from gateway.policy.outcomes import compile_outcomes
from gateway.policy.report import Report
from gateway.policy.secret import Secrets
from gateway.policy.source import Path, Source
from gateway.policy.url import Url, parse_host, parse_mount_path, parse_url

# Field values of RFC 9110 in ASCII; a line break would begin a header of its own.
_FIELD_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
# Stands in for a URL that is at fault; the file is refused anyway.
_NOWHERE = Url(Origin("http", "invalid", 80), "")


def compile_policy(source: Source, shape: schema.Policy, secrets: Secrets) -> Policy | tuple[Finding, ...]:
    """Compile one file, or say everything that is wrong with it."""
    report = Report(source)
    upstream = _upstream(report, shape, secrets)
    writes = [compile_write(report, at, shape, upstream, secrets) for at in range(len(shape.writes))]
    reads = [compile_read_only(report, at, entry, upstream) for at, entry in enumerate(shape.read_only)]
    closed = [compile_closed(report, at, shape, upstream) for at in range(len(shape.closed))]
    query = compile_query(report, shape.capabilities.query, upstream.mount)
    _check_names(report, shape)
    if report.findings:
        return tuple(sorted(report.findings, key=lambda finding: (finding.line, finding.column)))
    return Policy(
        upstream,
        tuple(entry for entry in writes if entry is not None),
        tuple(reads),
        tuple(closed),
        report.place(("upstream",)),
        report.place(("mount",)),
        query,
    )


def _check_names(report: Report, shape: schema.Policy) -> None:
    report.take(("upstream",), parse_name(shape.upstream))
    seen: dict[str, int] = {}
    for at, rule in enumerate(shape.writes):
        path: Path = ("writes", at, "name")
        report.take(path, parse_name(rule.name))
        first = seen.setdefault(rule.name, at)
        if first != at:
            line = report.place(("writes", first, "name")).line
            report.add(path, f"rule `{rule.name}` is already in line {line}; write another name")


def _upstream(report: Report, shape: schema.Policy, secrets: Secrets) -> Upstream:
    url = report.take(("url",), parse_url(shape.url)) or _NOWHERE
    report.take_each(("token_from",), shape.token_from, str)
    json_types = compile_json_types(report, shape)
    listed = shape.outcomes
    outcomes = compile_outcomes(listed.not_applied, listed.unknown, is_said=bool(listed.model_fields_set))
    return Upstream(
        name=shape.upstream,
        origin=url.origin,
        base_path=url.base_path,
        mount=_mount(report, shape, json_types),
        reads=shape.reads,
        timeouts=_timeouts(report, shape.timeouts),
        limits=Limits(**shape.limits.model_dump()),
        tls=_tls(report, shape.tls, url.origin, secrets),
        preserve_host=shape.host == "preserve",
        credentials=_credentials(report, shape.credentials, secrets),
        token_from=tuple(shape.token_from),
        any_token_from=tuple(dict.fromkeys(chain(shape.token_from, *(rule.token_from or () for rule in shape.writes)))),
        epoch_header=_epoch_header(report, shape.capabilities.fencing_token),
        native_key=_native_key(report, shape.capabilities.idempotency_key),
        conditional=shape.capabilities.conditional,
        outcomes=report.take(("outcomes",), outcomes) or DEFAULT_OUTCOMES,
        replay_headers=frozenset(
            report.take_each(("replay_headers",), shape.replay_headers, header_to_replay, "header `{}`")
        ),
        protocol=_protocol(report, shape),
        observes=any(rule.mode == "observe" for rule in shape.writes),
        probe=_probe(report, shape),
        forwarded=shape.forwarded,
        via=compile_via(report, shape),
        notify=compile_notify(report, shape.notify, secrets),
        json_types=json_types,
        drops_cookies=_drops_cookies(shape),
    )


def _probe(report: Report, shape: schema.Policy) -> Target | None:
    """The target; where the policy names none, the mount itself, whose own faults are noted elsewhere."""
    if shape.probe == "off":
        return None
    target = read_target(shape.probe or shape.mount.path)
    if shape.probe is None:
        return target if isinstance(target, Target) else None
    if isinstance(target, Ambiguous):
        report.add(("probe",), f"{target.why}; write a path such as `/reports`, or `off`")
        return None
    mount = parse_mount_path(shape.mount.path)
    if not isinstance(mount, Wrong) and target.segments[: len(mount)] != mount:
        report.add(("probe",), f"`{shape.probe}` is outside the mount; begin it with `{shape.mount.path}`")
    return target


def _protocol(report: Report, shape: schema.Policy) -> Protocol:
    if shape.protocol == "mcp" and shape.reads == "deny":
        report.add(("reads",), "an MCP client has to initialise and to list before it can call; write `pass`")
    return shape.protocol


def _epoch_header(report: Report, name: str | None) -> bytes | None:
    return None if name is None else report.take(("capabilities", "fencing_token"), header_to_send(name))


def _native_key(report: Report, shape: schema.NativeKey | None) -> NativeKey | None:
    if shape is None:
        return None
    header = report.take(("capabilities", "idempotency_key"), header_to_send(shape.header))
    return None if header is None else NativeKey(header, shape.retain)


def _mount(report: Report, shape: schema.Policy, json_types: frozenset[bytes]) -> Mount:
    mount = shape.mount
    segments = report.take(("mount", "path"), parse_mount_path(mount.path)) or ()
    site = None if mount.host is None else report.take(("mount", "host"), parse_host(mount.host))
    host, port = site or (None, None)
    if port is not None and shape.host != "preserve":
        report.add(("mount", "host"), "a port counts only where `Host` is forwarded (`host: preserve`); remove it")
    compiled = Mount(
        segments=segments,
        host=host,
        strip=mount.strip,
        encoded_slash=mount.encoded_slash,
        delimiters=mount.delimiters,
        plus=mount.plus,
        format_endings=compile_format_endings(report, mount),
        names=mount.names,
        form_in_json=mount.form_in_json,
        coded_bodies=mount.coded_bodies,
        locations=mount.locations,
        port=port,
        bodies=compile_bodies(report, mount, json_types),
    )
    fault = plus_fault(mount.path, compiled)
    if fault is not None:
        report.add(("mount", "path"), fault)
    return compiled


def _timeouts(report: Report, timeouts: schema.Timeouts) -> Timeouts:
    if timeouts.connect > timeouts.total:
        report.add(("timeouts", "connect"), "`connect` is longer than `total`, which bounds it; write a shorter one")
    return Timeouts(timeouts.connect, timeouts.total, timeouts.late)


def _tls(report: Report, tls: schema.Tls, origin: Origin, secrets: Secrets) -> Tls:
    if origin.scheme == "http" and origin is not _NOWHERE.origin and tls != schema.Tls():
        report.add(("tls",), "`tls` says nothing for an http URL; write https in `url`, or remove it")
    return compile_tls(report, ("tls",), tls, secrets)


def _drops_cookies(shape: schema.Policy) -> bool:
    """Where the policy leaves it out: if the gateway proves to the upstream who it is. An API that answers a credential
    with a session would hand it to the agent, who writes past the gateway with it."""
    if shape.set_cookie is not None:
        return shape.set_cookie == "drop"
    return bool(shape.credentials) or shape.tls.cert is not None


def _credentials(
    report: Report, credentials: list[schema.Credential], secrets: Secrets
) -> tuple[tuple[bytes, bytes], ...]:
    pairs: dict[bytes, tuple[bytes, bytes]] = {}
    for at, credential in enumerate(credentials):
        path: Path = ("credentials", at)
        name = report.take((*path, "header"), header_to_send(credential.header))
        value = report.take((*path, "value"), _field_value(secrets.expand(credential.value)))
        if name is None or value is None:
            continue
        if name.lower() in pairs:
            report.add((*path, "header"), f"header `{credential.header}` is set twice; remove one")
        pairs[name.lower()] = (name, value)
    return tuple(pairs.values())


def _field_value(value: str | Wrong) -> bytes | Wrong:
    if isinstance(value, Wrong):
        return value
    if not _FIELD_VALUE.fullmatch(value):
        return Wrong(
            "this credential is empty or cannot be a header's value; it must be visible ASCII in one line, without "
            "blanks around it"
        )
    return value.encode("ascii")
