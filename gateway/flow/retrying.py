"""What a queued write that has failed takes of its rule's budgets, once an operator has it sent again.

Its place was given back when it failed, so that it is taken anew: by the rules in force now.
"""

from dataclasses import replace

from gateway.core.caller import Caller
from gateway.core.coding import decoded
from gateway.core.decision import WRONG_STATE, Facts, Refused
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.rule import Rule
from gateway.core.write import Write
from gateway.flow.delivery import request_of, write_of
from gateway.policy.amount import read_costs
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet


def budgeted_rule(record: IntentRecord, rules: RuleSet) -> Rule | None:
    """The record's rule, if it has budgets."""
    for entry in rules.entries:
        rule = entry.rule
        if rule.budgets and (rule.upstream.name, rule.name) == (record.upstream, record.rule):
            return rule
    return None


def costed(record: IntentRecord, kept: KeptRequest, rule: Rule, rules: RuleSet) -> Write | Refused:
    """The write with what it takes. Refused: `wrong-state` where its rule, as it is now, cannot tell that."""
    write, request = write_of(record, rule), request_of(kept)
    if request is None:
        return _changed(record)
    plain = decoded(kept.body or b"", request.headers.all(b"content-encoding"), rule.upstream.limits.body)
    if isinstance(plain, Refused):
        return _changed(record)
    matched = rules.match(replace(request, body=plain), Caller(write.principal, write.tenant))
    if not isinstance(matched, Matched) or matched.entry.rule is not rule:
        return _changed(record)
    costs = read_costs(matched.entry.amounts, matched.body)
    return _changed(record) if isinstance(costs, Refused) else replace(write, costs=costs)


def _changed(record: IntentRecord) -> Refused:
    detail = "Nothing was done: its rule has changed, and what it takes of the budgets cannot be told. Repeat it."
    return Refused(WRONG_STATE, detail, Facts(resource=record.resource, intent=record.id, intent_state=record.state))
