"""Whole conversations about writes whose outcome nobody knows: the upstream does not answer, and is asked later."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.core.intent import IntentId
from gateway.core.write import Incident
from gateway.flow.clock import BootClock
from gateway.flow.inquiry import Inquiry
from gateway.log import Log
from gateway.policy.ruleset import RuleSet
from gateway.store.fence import FenceStore
from gateway.store.questions import Questions
from gateway.store.sweep import take_turn
from gateway.upstream.sender import HttpSender
from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.stack import Stack, rules_from, stack
from tests.store.asked import age, has_been_up, make_due
from tests.store.fences import opened

POLICY = """
upstream: mail
url: http://localhost:{port}
mount: {{path: /mail}}
timeouts: {{connect: 250ms, total: 500ms, late: 30s}}
credentials: [{{header: Authorization, value: Bearer of-the-upstream}}]
capabilities:
  idempotency_key: X-Key
  fencing_token: X-Epoch
  query:
    request: GET /mail/by-key/{{intent.key}}
    applied: {{status: 200}}
    not_applied: {{status: 404}}
    duplicated: {{json: {{/count: ">1"}}}}
    not_before: 1s
writes:
  - name: send
    match: POST /mail/{{box}}
    resource: mail/{{path.box}}
    authority: header
    intent: {{mode: required, on_unknown: query}}
"""
QUERY = "GET /mail/by-key/k-1 HTTP/1.1"
SEND = "POST /mail/out HTTP/1.1"
LATE_ENOUGH_S = 31.5


def said(status: int, body: bytes = b"{}") -> bytes:
    return b"HTTP/1.1 %d Said\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


class Mail(RecordingUpstream):
    """Takes mails and closes without a word; says `knows` when it is asked, or nothing at all."""

    knows: bytes = said(503)

    def __init__(self) -> None:
        super().__init__(self._answer)

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.line.startswith("POST"):
            writer.close()
        else:
            writer.write(self.knows)

    @property
    def lines(self) -> list[str]:
        return [seen.line for seen in self.seen]


@dataclass
class Conversation:
    """A mail in doubt, and whoever asks about it."""

    gate: Stack
    upstream: Mail
    store: FenceStore
    rules: RuleSet
    raw: Any
    log: Log
    id: IntentId
    incidents: int = 0

    def incident(self, kind: Incident) -> None:
        self.incidents += 1

    async def send(self) -> RawAnswer:
        return await send(self.gate)

    @contextlib.asynccontextmanager
    async def inquiry(self, store: FenceStore | None = None) -> AsyncIterator[Inquiry]:
        """A gateway's, whose queries have ended when this has."""
        sender = HttpSender(BootClock())
        inquiry = Inquiry(Questions(store or self.store), sender, lambda: self.rules, self, self.log)
        try:
            yield inquiry
        finally:
            await inquiry.close(5)
            sender.close()

    async def turn(self, *, unknown_for_s: float = 0) -> str:
        """Ask about what is due by then; the state afterwards."""
        age(self.raw, self.id, unknown_for_s)
        has_been_up(self.store)
        make_due(self.raw, self.id)
        self.raw.delete("fg:sweeper")
        due = await take_turn(self.store)
        assert due is not None
        async with self.inquiry() as inquiry:
            inquiry.begin(due.intents)
        record = await self.store.recall(self.id)
        assert record is not None
        return record.state


@contextlib.asynccontextmanager
async def in_doubt(store_url: str, directory: Path, raw: Any, policy: str = POLICY) -> AsyncIterator[Conversation]:
    """A mail that was sent and not answered."""
    upstream = Mail()
    async with stack(store_url, directory, policy, upstream) as gate, opened(store_url) as store:
        rules = rules_from(directory / "asked", policy.format(port=upstream.port))
        with (directory / "inquiry.log").open("ab") as lines:
            answer = await send(gate)
            assert (answer.status, answer.decision) == (504, "outcome-unknown")
            id = IntentId(json.loads(answer.body)["intent"]["id"])
            yield Conversation(gate, upstream, store, rules, raw, Log("json", descriptor=lines.fileno()), id)


async def send(gate: Stack, epoch: int = 42, body: bytes = b'{"to":"x"}') -> RawAnswer:
    fields = (*proof(epoch, f"of-{epoch}"), "Idempotency-Key: k-1", "Content-Type: application/json")
    return await ask(gate.port, "POST", "/mail/out", *fields, body=body)


@pytest.mark.parametrize(
    ("knows", "unknown_for_s", "state", "decision", "seen"),
    [
        pytest.param(said(200), 0, "applied", "replayed", [SEND, QUERY], id="applied"),
        pytest.param(said(404), 0, "unknown", "outcome-unknown", [SEND, QUERY], id="an early no"),
        pytest.param(said(404), 20, "unknown", "outcome-unknown", [SEND, QUERY], id="a no that is not late enough"),
        pytest.param(
            said(404), LATE_ENOUGH_S, "not_applied", "outcome-unknown", [SEND, QUERY, SEND], id="a no in its time"
        ),
        pytest.param(said(200, b'{"count":2}'), 0, "applied", "paused", [SEND, QUERY], id="applied twice"),
        pytest.param(b"sent? I think so\r\n\r\n", 0, "unknown", "outcome-unknown", [SEND, QUERY], id="nonsense"),
        pytest.param(said(302), LATE_ENOUGH_S, "unknown", "outcome-unknown", [SEND, QUERY], id="a redirect"),
        pytest.param(said(200)[:-1], 0, "unknown", "outcome-unknown", [SEND, QUERY], id="an answer that never ends"),
        pytest.param(b"", LATE_ENOUGH_S, "unknown", "outcome-unknown", [SEND, QUERY], id="no answer"),
    ],
)
async def test_what_the_upstream_knows_decides_what_a_retry_gets(
    store_url: str,
    tmp_path: Path,
    raw: Any,
    knows: bytes,
    unknown_for_s: float,
    state: str,
    decision: str,
    seen: list[str],
) -> None:
    """Only a clear answer ends the doubt, and only a no in its time lets the mail be sent again."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        talk.upstream.knows = knows

        assert await talk.turn(unknown_for_s=unknown_for_s) == state

        assert (await talk.send()).decision == decision
        assert talk.upstream.lines == seen
        assert talk.incidents == (decision == "paused")


@pytest.mark.parametrize(("unknown_for_s", "state"), [(20, "unknown"), (LATE_ENOUGH_S, "not_applied")])
async def test_a_reload_makes_no_earlier_no(
    store_url: str, tmp_path: Path, raw: Any, unknown_for_s: float, state: str
) -> None:
    """The mail was sent when `timeouts.late` was longer, and may be on its way as long as that said."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        talk.upstream.knows = said(404)
        shorter = POLICY.replace("late: 30s", "late: 100ms").format(port=talk.upstream.port)
        talk.rules = rules_from(tmp_path / "reloaded", shorter)

        assert await talk.turn(unknown_for_s=unknown_for_s) == state


async def overtake(gate: Stack) -> None:
    """Epoch 43 is registered."""
    body = b'{"resource": "mail/out"}'
    assert (await ask(gate.port, "POST", "/-/fence/epochs", *proof(43, "of-43"), body=body)).status == 200


async def test_what_an_overtaken_holder_did_is_told_to_it_and_its_successor(
    store_url: str, tmp_path: Path, raw: Any
) -> None:
    """The API says yes: the one is stale, with its intent applied, the other is answered from the record. Nothing more
    is sent, whatever else is asked under that key."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        await overtake(talk.gate)
        talk.upstream.knows = said(200)
        assert await talk.turn() == "applied"

        stale, repeated = await send(talk.gate), await send(talk.gate, 43)
        other = await send(talk.gate, 43, b'{"to":"y"}')

        facts = stale.problem["intent"]
        assert isinstance(facts, dict)
        assert (stale.status, stale.decision, facts["state"]) == (412, "stale-epoch", "applied")
        assert (repeated.status, repeated.decision) == (200, "replayed")
        assert json.loads(repeated.body) == {"intent": talk.id, "state": "applied", "resolved_by": "query"}
        assert (other.status, other.decision) == (422, "intent-mismatch")
        assert talk.upstream.lines == [SEND, QUERY]


async def test_what_an_overtaken_holder_did_not_do_its_successor_does_once(
    store_url: str, tmp_path: Path, raw: Any
) -> None:
    """The API says no in its time: the one is stale, with its intent not applied, and the other's repeat is sent under
    the epoch that rules now."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        await overtake(talk.gate)
        talk.upstream.knows = said(404)
        assert await talk.turn(unknown_for_s=LATE_ENOUGH_S) == "not_applied"
        talk.upstream.answer = answer_ok

        stale = await send(talk.gate)
        repeated = [await send(talk.gate, 43) for _ in range(2)]

        facts = stale.problem["intent"]
        assert isinstance(facts, dict)
        assert (stale.status, stale.decision, facts["state"]) == (412, "stale-epoch", "not_applied")
        assert [answer.decision for answer in repeated] == ["forwarded", "replayed"]
        assert talk.upstream.lines == [SEND, QUERY, SEND]
        assert talk.upstream.seen[-1].values("X-Epoch") == ["43"]


async def test_an_upstream_that_is_away_is_asked_again(store_url: str, tmp_path: Path, raw: Any) -> None:
    """Nothing is concluded from its absence, however long it lasts."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        talk.upstream.knows = said(200)
        here, talk.rules = talk.rules, rules_from(tmp_path / "away", POLICY.format(port=9))
        assert await talk.turn(unknown_for_s=LATE_ENOUGH_S) == "unknown"

        talk.rules = here
        assert await talk.turn() == "applied"


@pytest.mark.parametrize(
    ("named", "shown"),
    [("intent.upstream_key", {"evidence": {"mail": 7}}), ("intent.id", {"evidence": {"mail": 7}}), ("intent.key", {})],
)
async def test_a_retry_is_told_who_found_out_and_what_was_said_of_it(
    store_url: str, tmp_path: Path, raw: Any, named: str, shown: dict[str, object]
) -> None:
    """The first answer never came: the query's stands in for it, unless it may be about another's of the same key. That
    is for operators."""
    async with in_doubt(store_url, tmp_path, raw, POLICY.replace("intent.key", named)) as talk:
        talk.upstream.knows = said(200, b'{"mail":7}')
        await talk.turn()

        answer = await talk.send()

        assert (answer.status, answer.value("Idempotent-Replayed")) == (200, "true")
        assert json.loads(answer.body) == {
            "intent": talk.id,
            "state": "applied",
            "resolved_by": "query",
            **shown,
        }
        record = await talk.store.recall(talk.id)
        assert record is not None and record.evidence == b'{"mail":7}'


async def test_a_query_carries_the_upstreams_credentials_and_nothing_of_an_agent(
    store_url: str, tmp_path: Path, raw: Any
) -> None:
    """Neither token, nor epoch, nor key: it is nobody's write."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        await talk.turn()

        query = talk.upstream.seen[-1]
        assert query.line == QUERY
        assert query.head.split(b"\r\n")[1:-2] == [
            b"Host: localhost:%d" % talk.upstream.port,
            b"Accept: application/json",
            b"Cache-Control: no-cache",
            b"Authorization: Bearer of-the-upstream",
        ]


async def test_of_two_gateways_one_asks(store_url: str, tmp_path: Path, raw: Any) -> None:
    """Both have found it due: the store gives the turn to one of them."""
    async with in_doubt(store_url, tmp_path, raw) as talk, opened(store_url) as other:
        make_due(raw, talk.id)

        async with talk.inquiry() as one, talk.inquiry(other) as another:
            one.begin([talk.id])
            another.begin([talk.id])

        assert talk.upstream.lines == [SEND, QUERY]


async def test_a_gateway_that_dies_while_it_asks_is_followed_by_another(
    store_url: str, tmp_path: Path, raw: Any
) -> None:
    """The question was taken and never concluded from: the intent is unknown still, and asked about again."""
    async with in_doubt(store_url, tmp_path, raw) as talk:
        talk.upstream.knows = b""
        make_due(raw, talk.id)
        async with talk.inquiry() as inquiry:
            inquiry.begin([talk.id])
            await talk.upstream.until(lambda: talk.upstream.lines == [SEND, QUERY])
            await inquiry.close(0)
        record = await talk.store.recall(talk.id)
        assert record is not None and record.state == "unknown"

        talk.upstream.knows = said(200)
        assert await talk.turn() == "applied"
