"""What of a write's answer tells its outcome beside the status: a write with what its request says of that."""

from dataclasses import replace

from gateway.core.coding import named_codings
from gateway.core.decision import AMBIGUOUS_TARGET, OF_MCP, UNSUPPORTED_CODING, Refused
from gateway.core.request import Request
from gateway.core.write import Write
from gateway.flow.own_id import LONGEST_ID
from gateway.policy.match import Matched
from gateway.policy.reading.jsonrpc_answer import call_of


def telling(write: Write, matched: Matched, request: Request, *, at_graphql: bool) -> Write | Refused:
    """As it was, where nothing does. `at_graphql`: some rule reads operations of GraphQL where it is sent to.

    Refused: a call of a tool in a coding, or whose id is too long, as it is sent under another one (`own_id`).
    """
    if at_graphql:
        return replace(write, is_graphql=True)
    if write.rule.upstream.protocol != "mcp" or not matched.body.json.is_there:
        return write
    call = call_of(matched.body.json.body)
    if call is not None and named_codings(request.headers.all(b"content-encoding")):
        return Refused(
            UNSUPPORTED_CODING, "Not forwarded: a call of a tool is sent on without a coding. Send it plain."
        )
    if call is not None and len(call.spelled) > LONGEST_ID:
        detail = f"Nothing was forwarded: the call's id is longer than {LONGEST_ID} bytes. Give it a shorter one."
        return Refused(AMBIGUOUS_TARGET, detail, OF_MCP)
    return replace(write, call=call)
