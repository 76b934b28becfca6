"""What a rule that takes WebSocket handshakes cannot have: a session is one write that lasts, and has no body."""

from collections.abc import Iterator

from gateway.core.rule import Upstream
from gateway.policy import schema
from gateway.policy.entry import Entry
from gateway.policy.report import Report
from gateway.policy.source import Path


def check_upgrade(report: Report, path: Path, rule: schema.Rule, upstream: Upstream) -> None:
    """What is wrong with a rule that has `upgrade`, whatever it matches. `path` is the rule's."""
    if rule.upgrade is None:
        return
    for field, message in _senseless(rule):
        report.add((*path, *field), message)
    if upstream.protocol == "mcp":
        report.add((*path, "upgrade"), "MCP over HTTP has no WebSocket; write the rule for another upstream")


def check_upgrade_reads(report: Report, path: Path, entry: Entry) -> None:
    """A handshake has no body that could be read."""
    if entry.rule.upgrade is None:
        return
    if entry.matcher.reads_body:
        report.add((*path, "when"), "a WebSocket handshake has no body; write conditions on `header` and `query` only")
    if entry.template.reads is not None:
        message = "a WebSocket handshake has no body; name the resource by `path`, `query` or `header`"
        report.add((*path, "resource"), message)


def _senseless(rule: schema.Rule) -> Iterator[tuple[Path, str]]:
    if rule.mode == "observe":
        yield (
            ("mode",),
            "a session that is only observed could not be cut when its epoch is overtaken; write `enforce`",
        )
    if rule.intent.mode != "off":
        yield ("intent", "mode"), "a session has no answer that could be given again; write `intent: {mode: 'off'}`"
    if rule.revision == "gateway":
        yield ("revision",), "what a session writes is not counted; write `'off'`"
    if rule.fence.sequence != "off":
        yield ("fence", "sequence"), "a session has many writes and one place; write `sequence: 'off'`"
    if rule.on_stale == "quarantine":
        yield ("on_stale",), "a handshake has no result that could be kept; write `reject`"
    if rule.errors == "jsonrpc":
        yield ("errors",), "a WebSocket handshake is no call that an error could name; write `problem`"
    if rule.effect.risk == "high":
        yield ("effect", "risk"), "nothing guards what a session writes against a second execution; write `low`"
