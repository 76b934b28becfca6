"""A write with the id of the call that it is: of an MCP server's answers only those with this id are about it."""

from dataclasses import replace

from gateway.core.write import Write
from gateway.policy.match import Matched
from gateway.policy.reading.jsonrpc_answer import id_of


def called(write: Write, matched: Matched) -> Write:
    """As it was, where it is no call of a tool: its answer's status counts."""
    if write.rule.upstream.protocol != "mcp" or not matched.body.json.is_there:
        return write
    value = matched.body.json.value()
    return replace(write, call=id_of(value)) if isinstance(value, dict) else write
