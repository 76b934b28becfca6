"""`principals.yaml` becomes the principals in force. Every fault of the file is found; no key is ever shown."""

import re
from collections.abc import Iterator
from typing import TypeVar

from gateway.core.caller import ANONYMOUS, Caller
from gateway.core.glob import Glob, parse_glob
from gateway.core.quota import Quota
from gateway.core.rights import Rights
from gateway.policy import schema
from gateway.policy.finding import Finding, Wrong
from gateway.policy.name import parse_name
from gateway.policy.principals import Principals, digest_key
from gateway.policy.report import Report
from gateway.policy.secret import Secrets
from gateway.policy.source import Path, Source

T = TypeVar("T")

_HASHED = re.compile("sha256:([0-9a-fA-F]{64})")
# What a header carries without being changed on the way. A shorter key could be guessed.
_KEY = re.compile(rb"[\x21-\x7e]{16,512}")


def compile_principals(source: Source, shape: schema.Principals, secrets: Secrets) -> Principals | tuple[Finding, ...]:
    """Compile the file, or say everything that is wrong with it."""
    report = Report(source)
    names: dict[str, Path] = {}
    keys: dict[bytes, Path] = {}
    by_digest: dict[bytes, Caller] = {}
    for at, principal in enumerate(shape.principals):
        path: Path = ("principals", at)
        caller = _caller(report, path, principal)
        _check_first(report, names, principal.name, (*path, "name"), f"principal `{principal.name}`")
        for where, digest in _digests(report, path, principal, secrets):
            _check_first(report, keys, digest, where, "this key")
            by_digest[digest] = caller
    if report.findings:
        return tuple(sorted(report.findings, key=lambda finding: (finding.line, finding.column)))
    return Principals(by_digest)


def _caller(report: Report, path: Path, shape: schema.Principal) -> Caller:
    report.take((*path, "name"), parse_name(shape.name))
    report.take((*path, "tenant"), parse_name(shape.tenant))
    if shape.name == ANONYMOUS:
        report.add((*path, "name"), f"`{ANONYMOUS}` is who calls where there are no principals; write another name")
    resources = tuple(_globs(report, (*path, "resources"), shape.resources))
    limits = shape.quota
    quota = Quota(shape.name, limits.leases, limits.writes_per_minute, limits.resources)
    limited = limits != schema.Quota()
    every = any(glob.text == "**" for glob in resources)
    approve = _approve(report, path, shape)
    rights = Rights(None if every else resources, shape.takeover, quota if limited else None, approve)
    return Caller(shape.name, shape.tenant, rights)


def _approve(report: Report, path: Path, shape: schema.Principal) -> bool | tuple[Glob, ...]:
    where = (*path, "approve")
    if isinstance(shape.approve, list):
        return tuple(_globs(report, where, shape.approve))
    if shape.approve and not shape.resources:
        report.add(where, "`true` is of its `resources`, and it has none; write such as `approve: [account/*]`")
    return shape.approve


def _globs(report: Report, path: Path, texts: list[str]) -> Iterator[Glob]:
    for at, text in enumerate(texts):
        glob = parse_glob(text)
        if glob is not None:
            yield glob
            continue
        report.add(
            (*path, at),
            f"`{text}` is no glob of resources; write such as `report/*` (`*` is any text within a segment) or "
            "`team-a/**` (`**`, alone between slashes, is one segment or more)",
        )


def _digests(report: Report, path: Path, shape: schema.Principal, secrets: Secrets) -> Iterator[tuple[Path, bytes]]:
    """Where each key stands, and its digest."""
    for at, text in enumerate(shape.key):
        where = (*path, "key", at)
        digest = report.take(where, _digest(text, secrets))
        if digest is not None:
            yield where, digest


def _digest(text: str, secrets: Secrets) -> bytes | Wrong:
    hashed = _HASHED.fullmatch(text)
    if hashed is None and "${" not in text:
        return Wrong(
            "a key is not written here in clear; write `sha256:` and the 64 hex digits of its SHA-256, or "
            "`${env:NAME}` or `${file:/path}`"
        )
    expanded = secrets.expand(text)
    if isinstance(expanded, Wrong):
        return expanded
    hashed = _HASHED.fullmatch(expanded)
    if hashed is not None:
        return bytes.fromhex(hashed[1])
    # The environment may hold any bytes.
    key = expanded.encode("utf-8", "surrogateescape")
    if not _KEY.fullmatch(key):
        return Wrong("this key must be 16 to 512 visible ASCII characters, without blanks; make a random one")
    return digest_key(key)


def _check_first(report: Report, seen: dict[T, Path], value: T, at: Path, what: str) -> None:
    first = seen.setdefault(value, at)
    if first != at:
        report.add(at, f"{what} is already in line {report.place(first).line}; write another one")
