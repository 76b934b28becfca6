"""The entries of `closed`: which requests are refused, whatever else would take them."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from gateway.core.rule import Upstream
from gateway.policy import schema
from gateway.policy.compile.entry import compile_matcher
from gateway.policy.entry import Closed
from gateway.policy.pattern import READ_METHODS, Pattern, parse_pattern
from gateway.policy.report import Report
from gateway.policy.source import Path

_READS = tuple(sorted(READ_METHODS))
# Of MCP, where they are messages and the end of a session.
_MESSAGES = ("DELETE", "POST")


def compile_closed(report: Report, at: int, policy: schema.Policy, upstream: Upstream) -> Closed:
    """One of `closed`; its faults are noted. Without a `match` it takes what every other entry takes, and all reads."""
    path: Path = ("closed", at)
    shape = policy.closed[at]
    matcher = compile_matcher(report, path, shape, upstream)
    if shape.when.graphql:
        message = "an operation passes by what all of its fields are; leave those that are closed out of every rule"
        report.add((*path, "when", "graphql"), message)
    if shape.match is not None:
        if matcher.reads_body and any(not READ_METHODS.isdisjoint(pattern.methods) for pattern in matcher.patterns):
            message = "a read's body is not looked at; name methods that write, or conditions on `header` and `query`"
            report.add((*path, "match"), message)
        return Closed(matcher)
    if not matcher.conditions:
        report.add(path, "this would close everything; write `match`, or `when`")
    patterns = tuple(_anywhere(policy, upstream, reads=not matcher.reads_body))
    return Closed(replace(matcher, patterns=patterns, places=(matcher.place,) * len(patterns)), anywhere=True)


def _anywhere(policy: schema.Policy, upstream: Upstream, *, reads: bool) -> Iterator[Pattern]:
    """The other entries' patterns, each once, and those of all reads. Faults in them are noted at their own places."""
    # A handshake has no body either.
    asked = (rule for rule in policy.writes if reads or rule.upgrade is None)
    rules = ((text, rule.upgrade is not None) for rule in asked for text in rule.match)
    others = ((text, False) for entry in policy.read_only for text in entry.match)
    parsed = (parse_pattern(text, upgrades=upgrades) for text, upgrades in chain(rules, others))
    own = {(one.methods, one.shape): one for one in parsed if isinstance(one, Pattern)}
    yield from own.values()
    mount = upstream.mount.segments
    if upstream.protocol == "mcp":
        yield Pattern(f"{','.join(_MESSAGES)} /{'/'.join(mount)}", _MESSAGES, mount, (), None, slash=False)
    if reads:
        yield from _reads_below(mount)


def _reads_below(mount: tuple[str, ...]) -> Iterator[Pattern]:
    """At the mount itself and below. With a slash at the end is the same to whoever closes reads."""
    text = f"{','.join(_READS)} /{'/'.join(mount)}"
    yield Pattern(text, _READS, mount, (), None, slash=False)
    yield Pattern(f"{text.rstrip('/')}/{{rest...}}", _READS, mount, (), "rest", slash=False)
