"""Where each request goes, and what becomes of it."""

import pytest

from gateway.core.caller import Caller
from gateway.core.claim import ClaimProof
from gateway.core.decision import TOKEN_INVALID, Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import BodyTooLarge
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.flow.admission import Admission
from gateway.flow.barring import Barring
from gateway.flow.clock import BootClock
from gateway.flow.gate import Ended, Gate
from gateway.flow.inline import Inline
from gateway.flow.marks import Marks
from gateway.flow.naming import Naming
from gateway.flow.parking import Parking
from gateway.flow.quota import Quotas
from gateway.flow.read import Reading
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.policy.ruleset import RuleSet
from tests.flow.queueing import Nobody
from tests.playbook.caller import Counted, ScriptedCaller
from tests.playbook.script import Transcript
from tests.playbook.store import ADMIT, SETTLED, ScriptedClaims, ScriptedQuotas, ScriptedStore, unpaused
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender
from tests.stack import rules_from

POLICY = """
upstream: reports
url: http://localhost:1
mount: {path: /reports}
limits: {body: 20, stream: 30}
writes:
  - name: named
    match: PUT /reports/{id}
    resource: report/{path.id}
  - name: told
    match: POST /reports
    resource: report/{json:/id}
  - name: signed
    match: DELETE /reports/{id}
    resource: claimed/{path.id}
    authority: {signed: {keys: {secret: 0123456789abcdef0123456789abcdef}, algorithms: [HS256]}}
"""
TOKEN = (b"Fencing-Token", b"42.abcdefghijklmnopqrst-_")
JSON = (b"Content-Type", b"application/json")
SENT = ["admit t1", "proceed", "send t1", "read small", "settle t1 applied: answered 200", "reply applied ok", "close"]


class Body:
    """A body that is here already; `length` is what was announced, None where nothing was."""

    def __init__(self, data: bytes = b"", *, announced: bool = True) -> None:
        self._data = data
        self.length = len(data) if announced else None
        self.limit: int | None = None

    async def read(self) -> bytes:
        return b""

    def take_buffered(self) -> bytes | None:
        return self._data

    def restrict(self, limit: int | None) -> None:
        self.limit = limit

    async def hold(self, limit: int) -> bytes:
        if len(self._data) > limit:
            raise BodyTooLarge("too large")
        return self._data


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules_from(tmp_path_factory.mktemp("policies") / "p", POLICY)


async def handle(
    rules: RuleSet, line: str, body: Body, *pairs: tuple[bytes, bytes], proved: tuple[object, ...] = ()
) -> tuple[Ended, Transcript]:
    said, tasks, clock = Transcript(), Tasks(), BootClock()
    store = ScriptedStore(said, admit=[ADMIT], settle=[SETTLED], peek=[None])
    sender = ScriptedSender(said, ScriptedAnswer(said))
    pauses = unpaused(store)
    admission = Admission(store, clock, Wakes(), tasks, pauses)
    inline = Inline(admission, store, sender, clock, tasks, Counted())
    barring = Barring(pauses, Quotas(ScriptedQuotas(said), Tasks()))
    claims = ScriptedClaims(said, *proved)
    parking = Parking(store, admission, inline.quarantine, inline.room, clock, Nobody())
    gate = Gate(lambda: rules, Naming(store, inline.room), inline, Reading(store, sender), claims, barring, parking)
    method, _, raw = line.partition(" ")
    target = read_target(raw)
    assert isinstance(target, Target)
    ended = await gate.handle(Request(method, target, Headers(pairs)), body, Caller(), ScriptedCaller(said))
    return ended, said


async def test_a_write_goes_under_its_rule(rules: RuleSet) -> None:
    """The log learns rule, resource and epoch; the body may stream up to its limit."""
    body = Body(b"x" * 30)
    ended, said = await handle(rules, "PUT /reports/7", body, TOKEN)

    assert said == SENT
    assert (ended.upstream, ended.rule, ended.resource, ended.epoch) == ("reports", "named", "report/7", 42)
    assert body.limit == 30


async def test_a_claim_is_verified_before_its_write_is_admitted(rules: RuleSet) -> None:
    """Its epoch and its holder are those of the write; one that does not hold asks the store nothing."""
    claim = (b"Fencing-Token", b"e30.e30.AAAA")
    proof = ClaimProof(Epoch(42), "agent-a", BootClock().after(60))
    refusal = Refused(TOKEN_INVALID, "d")

    ended, said = await handle(rules, "DELETE /reports/7", Body(), claim, proved=(proof,))
    refused, heard = await handle(rules, "DELETE /reports/7", Body(), claim, proved=(refusal,))

    assert said == ["verify e30.e30.AAAA for claimed/7", *SENT]
    assert (ended.epoch, ended.holder) == (42, "agent-a")
    assert heard == ["verify e30.e30.AAAA for claimed/7", "refuse token-invalid"]
    assert refused.told is refusal


async def test_a_read_is_passed_on(rules: RuleSet) -> None:
    """Without a token, and without the store."""
    ended, said = await handle(rules, "GET /reports/7", Body())

    assert said == ["proceed", "send read", "read at once", "reply passed ok", "close"]
    assert (ended.upstream, ended.rule, ended.resource) == ("reports", "", None)


@pytest.mark.parametrize(
    ("body", "coding"), [(b'{"id":"7"}', b"identity"), (b'{"id":"7"}', b"")], ids=["identity", "no coding"]
)
async def test_a_body_is_read_where_a_rule_asks_for_it(rules: RuleSet, body: bytes, coding: bytes) -> None:
    """The caller may go on sending first; then the write is as any other."""
    ended, said = await handle(rules, "POST /reports", Body(body), TOKEN, JSON, (b"Content-Encoding", coding))

    assert said == ["proceed", *SENT]
    assert (ended.rule, ended.resource) == ("told", "report/7")


@pytest.mark.parametrize(
    ("line", "body", "pairs", "decision", "proceeds"),
    [
        ("PUT /reports/7", Body(), (TOKEN, TOKEN), "token-malformed", False),
        ("PUT /elsewhere", Body(), (TOKEN,), "no-upstream", False),
        ("PATCH /reports/7", Body(), (TOKEN,), "no-policy", False),
        ("PUT /reports/7", Body(), (), "token-required", False),
        ("PUT /reports/7", Body(b"x" * 31), (TOKEN,), "body-too-large", False),
        ("POST /reports", Body(b"x" * 21), (TOKEN,), "body-too-large", False),
        ("POST /reports", Body(b"x" * 21, announced=False), (TOKEN,), "body-too-large", True),
        ("POST /reports", Body(b"{}"), (TOKEN, (b"Content-Encoding", b"br")), "unsupported-coding", True),
        ("POST /reports", Body(b"{}"), (TOKEN, JSON), "resource-unresolved", True),
        ("POST /reports", Body(b'{"id":"7"}'), (JSON,), "token-required", True),
    ],
    ids=[
        "a doubled control header",
        "no upstream",
        "no rule",
        "no token",
        "announced larger than may stream",
        "announced larger than may be held",
        "larger than may be held",
        "a coding that cannot be read",
        "a body that does not name the resource",
        "no token, the body read",
    ],
)
async def test_a_refused_request_reaches_neither_store_nor_upstream(
    rules: RuleSet, line: str, body: Body, pairs: tuple[tuple[bytes, bytes], ...], decision: str, proceeds: bool
) -> None:
    """No body is asked for unless a rule has to read it; nothing moves. Logs and metrics know whose request it was."""
    ended, said = await handle(rules, line, body, *pairs)

    assert said == [*["proceed"] * proceeds, f"refuse {decision}"]
    assert ended.epoch is None
    assert ended.upstream == ("" if decision in ("token-malformed", "no-upstream") else "reports")


OBSERVED = """
upstream: reports
url: http://localhost:1
mount: {path: /reports}
limits: {stream: 30}
defaults: {mode: observe}
writes:
  - name: named
    match: PUT /reports/{id}
    resource: report/{path.id}
  - name: told
    match: POST /reports
    resource: report/{header.x-id}
"""
PASSED_ON = ["proceed", "pass on", "read at once", "reply observed ok", "close"]


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules_from(tmp_path_factory.mktemp("policies") / "p", OBSERVED)


@pytest.mark.parametrize(
    ("line", "resource", "would"),
    [("PUT /reports/7", "report/7", "token-required"), ("POST /reports", None, "resource-unresolved")],
)
async def test_an_observed_write_without_a_proof_is_passed_on(
    observed: RuleSet, line: str, resource: str | None, would: str
) -> None:
    """Of the store only a pause is asked; its body may stream up to its limit as any other's."""
    body = Body(b"x" * 30)
    ended, said = await handle(observed, line, body)

    assert said == ["peek"] * (resource is not None) + PASSED_ON
    assert isinstance(ended.told, Marks)
    assert ended.told.would is not None
    assert (ended.rule != "", ended.resource, ended.told.would.name, body.limit) == (True, resource, would, 30)


@pytest.mark.parametrize("line", ["PUT /reports/7", "POST /reports"])
async def test_a_limit_holds_for_observed_writes_too(observed: RuleSet, line: str) -> None:
    """It is the upstream's, and not the fence's."""
    _, said = await handle(observed, line, Body(b"x" * 31))

    assert said == ["refuse body-too-large"]
