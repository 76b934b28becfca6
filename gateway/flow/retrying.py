"""A queued write that has failed, as it is sent again once an operator says so: by the rules in force now.

Its place in its rule's budgets was given back when it failed, so that it is taken anew.
"""

from dataclasses import replace
from functools import partial

from gateway.core.decision import WRONG_STATE, Facts, Refused
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.write import Write
from gateway.flow.parsing import parsed
from gateway.flow.rejudging import NotTaken, judge_again, lacks_approval
from gateway.policy.amount import read_costs
from gateway.policy.ruleset import RuleSet


async def judge_retry(record: IntentRecord, kept: KeptRequest, rules: RuleSet) -> Write | Refused:
    """The write with what it takes. Refused: `wrong-state` where the rules do not take it as it is."""
    found = await judge_again(record, kept, rules)
    if isinstance(found, NotTaken):
        return untaken(record, found, "Mend the policy, or let whoever made it repeat it")
    if lacks_approval(record, found.write.rule):
        return _undone(record, "its rule wants an approval now, and it has none; whoever made it has to repeat it")
    body = found.matched.body
    costs = await parsed(len(body.json.body), partial(read_costs, found.matched.entry.amounts, body))
    if isinstance(costs, Refused):
        return _undone(record, "what it takes of the budgets cannot be told; whoever made it has to repeat it")
    return replace(found.write, costs=costs)


def untaken(record: IntentRecord, found: NotTaken, what_to_do: str) -> Refused:
    """The refusal of an operator's or an approver's word on what would not be sent anyway."""
    return _undone(record, f"{found.reason}. {what_to_do}")


def _undone(record: IntentRecord, why: str) -> Refused:
    facts = Facts(resource=record.resource, intent=record.id, intent_state=record.state)
    return Refused(WRONG_STATE, f"Nothing was done: {why}.", facts)
