"""What a pause is to stop, as operators name it."""

from pathlib import Path

import pytest

from gateway.admin.document import Document
from gateway.admin.running import Running
from gateway.admin.selector import check_selector, read_selector
from gateway.core.decision import Refused
from gateway.core.pause import Scope
from gateway.core.write import ResourceKey
from gateway.flow.clock import BootClock
from gateway.flow.compensating import Compensating
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.policy.finding import Finding
from gateway.store.compensations import Compensations
from gateway.store.fence import FenceStore
from gateway.store.views.census import Counting
from gateway.upstream.sender import HttpSender
from tests.stack import POLICY, rules_from


async def _nothing_wrong() -> tuple[Finding, ...]:
    return ()


@pytest.mark.parametrize(
    ("document", "selected"),
    [
        ({"resource": "report/7"}, ResourceKey("report/7")),
        ({"all": True}, Scope("all")),
        ({"upstream": "mail"}, Scope("upstream", "mail")),
        ({"rule": "send"}, Scope("rule", "send")),
        ({"rule": "send", "upstream": "mail"}, Scope("rule", "send", "mail")),
        ({"tenant": "north"}, Scope("tenant", "north")),
        ({"holder": "agent-a"}, Scope("holder", "agent-a")),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_a_selector_is_one_name(document: Document, selected: object) -> None:
    """Or a rule within its upstream; the reason beside it is none."""
    assert read_selector({**document, "reason": "r"}) == selected


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "name one of"),
        ({"upstream": "mail", "tenant": "north"}, "only `upstream` and `rule` go together"),
        ({"upstream": "mail", "rule": "send", "all": True}, "name one of"),
        ({"all": False}, "`all` must be true"),
        ({"all": 1}, "`all` must be true"),
        ({"upstream": ""}, "`upstream` must be a text"),
        ({"upstream": None, "rule": "send"}, "`upstream` must be a text"),
        ({"rule": ["send"]}, "`rule` must be a text"),
        ({"holder": "a\nb"}, "`holder` must be a name"),
        ({"holder": "x" * 256}, "`holder` must be a name"),
    ],
    ids=lambda value: ascii(value)[:40] if isinstance(value, dict) else "",
)
def test_what_is_no_selector_is_refused(document: Document, says: str) -> None:
    """Nothing is done, and what to send is told."""
    refused = read_selector(document)

    assert isinstance(refused, Refused)
    assert refused.decision.name == "bad-request"
    assert refused.detail.startswith("Nothing was done: ")
    assert says in refused.detail


@pytest.mark.parametrize(
    ("selected", "says"),
    [
        (Scope("all"), None),
        (Scope("upstream", "reports"), None),
        (Scope("rule", "write"), None),
        (Scope("rule", "write", "reports"), None),
        (Scope("tenant", "default"), None),
        (Scope("holder", "whoever"), None),
        (ResourceKey("report/7"), None),
        (Scope("upstream", "reprots"), "no upstream is called 'reprots'; there is `reports`"),
        (Scope("rule", "wirte"), "no rule is called 'wirte'; there is `write`"),
        (Scope("rule", "write", "mail"), "no upstream is called 'mail'"),
        (Scope("rule", "wirte", "reports"), "no rule of upstream reports is called 'wirte'"),
        (Scope("tenant", "nroth"), "no tenant is called 'nroth'; there is `default`"),
        (ResourceKey("reprot/7"), "no rule makes this resource"),
    ],
    ids=lambda value: str(value) if isinstance(value, Scope) else value and ascii(value)[:30],
)
async def test_a_name_with_a_slip_is_refused(
    store: FenceStore, tmp_path: Path, selected: ResourceKey | Scope, says: str | None
) -> None:
    """What there is stands beside it, and what stops everything whatever its name."""
    rules = rules_from(tmp_path / "policies", POLICY.format(port=9))
    metrics, log = ParentMetrics(tmp_path), Log("json")
    sender = HttpSender(BootClock())
    compensating = Compensating(Compensations(store), sender, lambda: rules, BootClock(), metrics, log)
    counting = Counting(store, lambda: 0.0)
    running = Running(
        *(store, lambda: rules, _nothing_wrong, lambda: 1, lambda: False, metrics, log, compensating),
        counting=counting,
    )

    refused = await check_selector(running, selected)

    assert (refused is None) is (says is None)
    if refused is not None and says is not None:
        assert says in refused.detail
        assert isinstance(selected, str) or '{"all": true} stops everything' in refused.detail
