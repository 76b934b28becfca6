"""`GET /-/fence/intents/ID`: what became of an intent, for whoever made it or may make it."""

import json
from collections.abc import Callable
from typing import Protocol

from gateway.core.caller import Caller
from gateway.core.decision import NO_SUCH_INTENT, SHOWN, Facts, Refused
from gateway.core.faults import PoliciesChanged, StoreUnavailable
from gateway.core.record import IntentRecord, shown
from gateway.flow.admission import store_is_away
from gateway.flow.gate import Ended
from gateway.flow.marks import Marks
from gateway.policy.ruleset import RuleSet
from gateway.proxy.reply import Reply


class Records(Protocol):
    """Where intents are kept."""

    async def recall(self, id: str) -> IntentRecord | None: ...


async def show_intent(
    records: Records, policies: Callable[[], RuleSet], id: str, caller: Caller, reply: Reply
) -> Ended | Refused:
    """Answer with the record: to who made it, and to whoever in its tenant may write or approve its resource. To all
    others it is not even told that it is there: its id is no secret.

    A write without a key has no tenant in its record: whoever may write the resource sees it, by right and by the
    rules, where `{tenant}` and `{principal}` in a resource are the caller's.

    Raises PoliciesChanged when others are in force once it is there: nothing was shown.
    """
    rules = policies()
    try:
        record = await records.recall(id)
    except StoreUnavailable as away:
        return store_is_away(away, "Not shown")
    if policies() is not rules:
        raise PoliciesChanged
    if record is None or not _is_for(record, caller, rules):
        detail = "Nothing is known of this intent: it was never seen, or its time is over. Check its id."
        return Refused(NO_SUCH_INTENT, detail, Facts(intent=id if id.isprintable() else None))
    reply.own(SHOWN, b"application/json", json.dumps(shown(record), ensure_ascii=False).encode())
    return Ended(Marks(SHOWN), record.upstream, record.rule, record.resource, record.epoch, intent=record.id)


def _is_for(record: IntentRecord, caller: Caller, rules: RuleSet) -> bool:
    if record.key is not None:
        rights, resource = caller.rights, record.resource
        may = record.principal == caller.principal or rights.cover(resource) or rights.may_approve(resource)
        return may and record.tenant == caller.tenant
    return caller.rights.cover(record.resource) and not rules.is_of_others(record.resource, caller)
