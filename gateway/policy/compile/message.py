"""What a rule of an MCP upstream says of messages: `when: {tool: ...}`, `{answer: true}`; rules that none can reach."""

from collections.abc import Iterator

from gateway.core.rule import Upstream
from gateway.policy import schema
from gateway.policy.condition import Absent, Condition, JsonCondition, Text
from gateway.policy.entry import Matcher
from gateway.policy.reading.jsonbody import Pointer
from gateway.policy.reading.mcp import CALL, READS
from gateway.policy.report import Report
from gateway.policy.source import Path

_METHOD = Pointer("/method", ("method",))
_NAME = Pointer("/params/name", ("params", "name"))
_IS_CALL = JsonCondition(_METHOD, frozenset({Text(CALL)}))
IS_ANSWER = JsonCondition(_METHOD, frozenset({Absent()}))


def message_conditions(report: Report, path: Path, when: schema.When, upstream: Upstream) -> Iterator[Condition]:
    """`path` is that of `when`."""
    if when.answer is None:
        yield from _tool_conditions(report, path, when, upstream)
        return
    if upstream.protocol != "mcp":
        report.add((*path, "answer"), "servers ask over MCP; write `protocol: mcp` beside `upstream`, or use `json`")
    if when.tool is not None:
        report.add((*path, "tool"), "an answer calls no tool; remove this, or `answer`")
    elif _METHOD.text in when.json_:
        report.add((*path, "json", _METHOD.text), "an answer has no method; remove this, or `answer`")
    else:
        yield IS_ANSWER


def _tool_conditions(report: Report, path: Path, when: schema.When, upstream: Upstream) -> Iterator[Condition]:
    """`tool: NAME`, or a list of names: calls of these tools."""
    if when.tool is None:
        return
    if upstream.protocol != "mcp":
        report.add((*path, "tool"), "tools are called over MCP; write `protocol: mcp` beside `upstream`, or use `json`")
    for pointer in (_METHOD, _NAME):
        if pointer.text in when.json_:
            report.add((*path, "json", pointer.text), f"`tool` says what `{pointer.text}` must be; remove one")
            return
    yield _IS_CALL
    yield JsonCondition(_NAME, frozenset(map(Text, when.tool)))


def check_messages(report: Report, path: Path, when: schema.When, matcher: Matcher, *, closes: bool) -> None:
    """Whether an entry can take a message at all: reads of the protocol pass before it, unless it `closes` them, and
    tools have one endpoint."""
    upstream = matcher.upstream
    if upstream.protocol != "mcp":
        return
    elsewhere = [one for one in matcher.patterns if one.segments != upstream.mount.segments or one.rest is not None]
    if (when.tool is not None or when.answer is not None) and elsewhere:
        mount = "/" + "/".join(upstream.mount.segments)
        message = f"messages are sent to the mount itself, `{mount}`; write `POST {mount}`, or mount the upstream there"
        report.add((*path, "match"), message)
    if closes or elsewhere or any(one.methods != ("POST",) for one in matcher.patterns):
        return
    methods = [one.values for one in matcher.conditions if isinstance(one, JsonCondition) and one.pointer == _METHOD]
    if methods and all(isinstance(value, Text) and value.value in READS for value in methods[0]):
        report.add((*path, "when"), "these methods are reads of the protocol and pass before any rule; remove this")
