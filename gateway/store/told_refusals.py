"""What is refused before it comes to be admitted: the audit trail is told of it."""

import contextlib

from gateway.core.caller import ANONYMOUS
from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.write import Write
from gateway.store.asking import Asking
from gateway.store.keys import resource_keys
from gateway.store.script import Script

REFUSE = Script("refuse")


async def tell_refused(store: Asking, write: Write, refused: Refused) -> None:
    """Where the trail cannot be told it is refused all the same."""
    rule = write.rule
    principal = "" if write.principal == ANONYMOUS else write.principal
    about = (str(write.epoch), write.holder or "", rule.upstream.name, rule.name, principal, refused.decision.name)
    with contextlib.suppress(StoreUnavailable):
        await store.run(REFUSE, resource_keys(write.resource), write.resource, store.gateway, *about, write.trace_id)
