"""The answer to a repeated intent that was applied before: nothing is forwarded."""

import json
from functools import partial

from gateway.core.decision import ANSWER_NOT_KEPT, REPLAYED, Facts, Refused
from gateway.core.intent import KeptAnswer
from gateway.core.request import Headers, Request
from gateway.core.write import Replayed
from gateway.flow.marks import Marks
from gateway.flow.parsing import parsed, plain_body
from gateway.flow.ports import Caller
from gateway.policy.reading.jsonrpc import with_id

_JSON = ((b"Content-Type", b"application/json"),)
_CODING = b"content-encoding"


async def answer_of(found: Replayed, request: Request, body: bytes | None) -> KeptAnswer | Refused:
    """What the record says. `body` is the request's, if it is at hand. A large one takes its time, so that whoever
    tells it looks first whether its caller may still be told.
    """
    if found.answer is not None:
        return await addressed(found.answer, request, body or b"", found.write.rule.upstream.limits.body)
    return _not_kept(found) if found.resolved_by is None else _resolution(found)


def replay(found: Replayed, answer: KeptAnswer | Refused, caller: Caller) -> Marks | Refused:
    """Answer from the record; returns what the caller was told."""
    if isinstance(answer, Refused):
        caller.refuse(answer)
        return answer
    marks = Marks(REPLAYED, found.write.epoch, "applied", intent=found.intent)
    caller.replay(marks, answer)
    return marks


async def addressed(answer: KeptAnswer, request: Request, body: bytes, limit: int) -> KeptAnswer:
    """An answer of JSON-RPC carries the id of the call that it answers now; every other one stays as it was."""
    if not body or not answer.body:
        return answer
    headers = Headers(answer.headers)
    plain = await plain_body(answer.body, headers.all(_CODING), limit)
    if isinstance(plain, Refused) or b"jsonrpc" not in plain:
        return answer
    call = await plain_body(body, request.headers.all(_CODING), limit)
    if isinstance(call, Refused):
        return answer
    splice = partial(with_id, plain, call, headers.first(b"content-type") or b"")
    addressed = await parsed(max(len(plain), len(call)), splice)
    if addressed == plain:
        return answer
    return KeptAnswer(answer.status, tuple(pair for pair in answer.headers if pair[0].lower() != _CODING), addressed)


def _resolution(found: Replayed) -> KeptAnswer:
    """What is told where the upstream's own answer never came and somebody found out that it was applied."""
    members = {"intent": found.intent, "state": "applied", "resolved_by": found.resolved_by}
    body = json.dumps(members).encode()
    if found.evidence:
        # JSON as the query answered it: read and written anew, its numbers could change.
        body = body[:-1] + b', "evidence": ' + found.evidence + b"}"
    return KeptAnswer(200, _JSON, body)


def _not_kept(found: Replayed) -> Refused:
    detail = "Not forwarded: this intent was applied before, and its answer was not kept. Stop: it is done."
    write = found.write
    facts = Facts(resource=write.resource, epoch=write.epoch, intent=found.intent, intent_state="applied")
    return Refused(ANSWER_NOT_KEPT, detail, facts)
