"""Late results put straight into quarantine: what operators then look at."""

from dataclasses import replace

from gateway.core.decision import STALE_EPOCH, Decision
from gateway.core.epoch import Epoch
from gateway.core.kept_request import KeptRequest, keep_request
from gateway.core.late import LateResult
from gateway.core.request import Headers, Request
from gateway.core.rule import Rule
from gateway.core.target import Target, read_target
from gateway.core.write import ResourceKey, Write
from gateway.store.fence import FenceStore
from tests.intending import RULE, SEVEN

BODY = b'{"text": "the old result of A"}'


def kept(body: bytes | None = BODY, *pairs: tuple[bytes, bytes], target: str = "/reports/7?draft=1") -> KeptRequest:
    """A request as it is kept."""
    read = read_target(target)
    assert isinstance(read, Target)
    return keep_request(Request("PUT", read, Headers(pairs)), body, RULE.upstream)


def late(
    resource: ResourceKey = SEVEN,
    body: bytes | None = BODY,
    *,
    epoch: int = 41,
    principal: str = "anonymous",
    of: Rule = RULE,
    decision: Decision = STALE_EPOCH,
) -> LateResult:
    """What `agent-a` sent under an epoch that had been overtaken."""
    write = replace(Write(of, resource, Epoch(epoch), "agent-a", None), principal=principal)
    return LateResult(decision, write, 42, None, kept(body, (b"Content-Type", b"application/json")))


async def quarantined(store: FenceStore, result: LateResult) -> str:
    """The id under which it is kept."""
    id = await store.quarantine(result)
    assert id is not None
    return id
