"""A write that is an intent: what is asked, kept, replayed and told."""

import json
from dataclasses import replace

import pytest

from gateway.core.call import Call
from gateway.core.decision import OUTCOME_UNKNOWN, Refused
from gateway.core.faults import BrokenAnswer, PoliciesChanged
from gateway.core.intent import KeptAnswer
from gateway.core.outcome import LateAnswer, NoReply, NotSent, Overdue
from gateway.core.rule import IntentTerms, NativeKey, OnUnknown, Protocol, Rule
from gateway.core.term import Term
from gateway.core.write import Replayed
from gateway.flow.admission import Admission
from gateway.flow.clock import BootClock
from gateway.flow.inline import Inline
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.playbook.caller import Counted, NoBody, ScriptedCaller
from tests.playbook.given import INTENT, INTENT_ID, UPSTREAM, request, write
from tests.playbook.script import Transcript
from tests.playbook.store import ADMIT, SETTLED, Admit, ScriptedStore, Settle, unpaused
from tests.playbook.upstream import ScriptedAnswer, ScriptedSender

REQUIRED = IntentTerms("required")
JSON = (b"Content-Type", b"application/json")
BEFORE = ["admit t1", "proceed", "send t1"]


class Play:
    """One write under `terms`; `said` is the conversation."""

    def __init__(self, evidence: object, terms: IntentTerms = REQUIRED, **store: list[object]) -> None:
        self.said, self.counted = Transcript(), Counted()
        if isinstance(evidence, ScriptedAnswer):
            evidence.said = self.said
        scripts = {"admit": [ADMIT], "settle": [SETTLED] * 2} | store
        self.caller = ScriptedCaller(self.said)
        self.rule = Rule("r", UPSTREAM, intent=terms)
        self.call: Call | None = None
        self.body: Body | None = None
        self.sender = ScriptedSender(self.said, evidence)
        self.store = ScriptedStore(self.said, **scripts)

    async def run(self, body: bytes = b"") -> "Play":
        tasks, clock = Tasks(), BootClock()
        admission = Admission(self.store, clock, Wakes(), tasks, unpaused(self.store))
        inline = Inline(admission, self.store, self.sender, clock, tasks, self.counted)
        asked = replace(write(self.rule, intent=INTENT), call=self.call)
        await inline.run(asked, request(), self.body or Body(body), self.caller)
        assert await tasks.drain(5) == 0
        return self


class Body(NoBody):
    """A body that is here already."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take_buffered(self) -> bytes | None:
        return self._data


class SlowBody(Body):
    """By the time that it is here, its rule is in force no longer."""

    def __init__(self, data: bytes, term: Term) -> None:
        super().__init__(data)
        self._term = term

    def take_buffered(self) -> bytes | None:
        self._term.end()
        return self._data


def answer(status: int = 200, small: object = (b"ok", True), *pieces: object, **fields: object) -> ScriptedAnswer:
    return ScriptedAnswer(Transcript(), status, small, pieces, **fields)


@pytest.mark.parametrize(
    ("evidence", "settled"),
    [
        (answer(), "applied: answered 200, keeping 200 ok"),
        (answer(302, (b"", True)), "applied: answered 302, keeping 302 "),
        (answer(422), "not_applied: answered 422"),
        (answer(500), "unknown: answered 500"),
        (answer(200, BrokenAnswer("reset")), "unknown, unfinished: reset"),
        (answer(200, (b"123456", True)), "applied: answered 200"),
        (answer(200, (b"12", False), b"34", b""), "applied: answered 200, keeping 200 1234"),
        (answer(200, (b"12", False), b"345", b"6", b""), "applied: answered 200"),
        (answer(200, (b"12", False), BrokenAnswer("reset")), "unknown, unfinished: reset"),
        (answer(200, (b"", False), b"event", b"", is_stream=True), "applied: answered 200, keeping 200 event"),
        (NoReply("closed", "lost"), "unknown, unfinished: lost"),
        (NotSent("unreachable", "refused"), "not_applied: refused"),
    ],
    ids=[
        *("applied", "redirect, empty", "not applied", "unknown", "broke off", "one byte too large"),
        *("in pieces", "in pieces, too large", "in pieces, broke off", "event stream", "no reply", "not sent"),
    ],
)
async def test_only_the_whole_answer_of_an_applied_intent_is_kept(evidence: object, settled: str) -> None:
    """Up to `store_response` bytes of its body; what broke off, or is larger, is never replayed as if it were whole."""
    played = await Play(evidence, IntentTerms("required", store_response=5)).run()

    assert [line for line in played.said if line.startswith("settle")] == [f"settle t1 {settled}"]


async def test_of_the_headers_only_those_of_the_allow_list_are_kept() -> None:
    """Cookies, dates and request ids belong to one exchange."""
    headers = (JSON, (b"Set-Cookie", b"a=1"), (b"Date", b"now"), (b"X-Request-Id", b"7"), (b"LOCATION", b"/mails/1"))
    stored: list[KeptAnswer | None] = []
    play = Play(answer(201, headers=headers))
    settle = play.store.settle
    play.store.settle = lambda *asked, **how: (stored.append(asked[-1]), settle(*asked, **how))[1]

    await play.run()

    assert stored == [KeptAnswer(201, (JSON, (b"LOCATION", b"/mails/1")), b"ok")]


async def test_a_replay_forwards_nothing() -> None:
    """Status, headers and body of the first answer; marked as decided here, under the repeat's own epoch."""
    kept = KeptAnswer(201, (JSON,), b"made")
    found = Replayed(write(), INTENT_ID, kept)

    played = await Play(None, admit=[found]).run()

    assert played.said == ["admit t1", "replay 201 made"]
    assert played.caller.replays == [kept]
    marks = played.caller.marks[0]
    assert (marks.decision.name, marks.epoch, marks.outcome, marks.intent) == ("replayed", 42, "applied", INTENT_ID)


async def test_a_replay_of_json_rpc_carries_the_id_that_was_asked_now() -> None:
    """The client matches answers to calls by their id."""
    kept = KeptAnswer(200, (JSON,), b'{"jsonrpc": "2.0", "id": 1, "result": {"n": 1.0}}')
    call = b'{"jsonrpc": "2.0", "id": "second", "method": "tools/call"}'

    played = await Play(None, admit=[Replayed(write(), INTENT_ID, kept)]).run(call)

    assert played.caller.replays[0].body == b'{"jsonrpc": "2.0", "id": "second", "result": {"n": 1.0}}'


async def test_no_answer_is_replayed_under_policies_that_are_over() -> None:
    """A large one takes its time, or its process was stopped: whoever asks may be nobody by now, and is judged anew."""
    term = Term()
    kept = KeptAnswer(200, (JSON,), b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
    play = Play(None, admit=[Replayed(write(), INTENT_ID, kept)])
    play.rule = replace(play.rule, upstream=replace(UPSTREAM, term=term))
    play.body = SlowBody(b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call"}', term)

    with pytest.raises(PoliciesChanged):
        await play.run()

    assert play.said == ["admit t1"]


async def test_an_answer_that_was_not_kept_is_said_to_be_lost_and_never_run_again() -> None:
    """410: the intent is done."""
    played = await Play(None, admit=[Replayed(write(), INTENT_ID, None)]).run()

    assert played.said == ["admit t1", "refuse answer-not-kept"]
    assert played.caller.refusals[0].facts.intent_state == "applied"


@pytest.mark.parametrize("evidence", [b"", b'{"count": 1}'], ids=["operator", "query"])
async def test_an_intent_that_was_found_to_be_applied_says_who_found_out(evidence: bytes) -> None:
    """There is no answer of the upstream to repeat; a query's own answer goes with it."""
    by = "query" if evidence else "operator"

    played = await Play(None, admit=[Replayed(write(), INTENT_ID, None, by, evidence)]).run()

    told = json.loads(played.caller.replays[0].body)
    more = {"evidence": {"count": 1}} if evidence else {}
    assert told == {"intent": INTENT_ID, "state": "applied", "resolved_by": by} | more
    assert played.caller.replays[0].status == 200


@pytest.mark.parametrize(
    ("on_unknown", "retain_s", "what_to_do"),
    [
        ("hold", 86400, "Do not send it under another key; with the same one it is not sent twice."),
        ("retry", 86400, "Repeat it with the same key: the upstream itself refuses a second execution."),
        (
            "retry",
            UPSTREAM.timeouts.total_s,
            "Do not send it under another key; with the same one it is sent again while the upstream remembers it.",
        ),
    ],
    ids=["hold", "retry", "a key that is forgotten early"],
)
async def test_an_unknown_outcome_says_what_the_key_is_good_for(
    on_unknown: OnUnknown, retain_s: float, what_to_do: str
) -> None:
    """The problem names the intent and its state."""
    play = Play(NoReply("closed", "lost"), IntentTerms("required", on_unknown=on_unknown))
    upstream = replace(UPSTREAM, native_key=NativeKey(b"X-Key", retain_s))
    play.rule = replace(play.rule, upstream=upstream)
    played = await play.run()

    refused = played.caller.refusals[0]
    assert refused.decision is OUTCOME_UNKNOWN
    assert refused.detail.endswith(what_to_do)
    assert (refused.facts.intent, refused.facts.intent_state) == (INTENT_ID, "unknown")


@pytest.mark.parametrize(
    ("evidence", "told"),
    [
        (answer(422), "reply unknown ok"),
        (answer(200), "reply applied ok"),
        (answer(422, (b"1", False), b""), "begin unknown"),
        (NotSent("unreachable", "refused"), "refuse outcome-unknown"),
    ],
    ids=["refused", "applied", "refused, large", "not sent"],
)
async def test_a_refusal_of_a_further_attempt_proves_nothing_about_the_one_before(evidence: object, told: str) -> None:
    """The intent stays unknown, and its caller is told so with the upstream's own answer."""
    admit = Admit(attempt=2, in_doubt=True)
    settle = [Settle(outcome="applied" if told.startswith("reply applied") else "unknown")]

    played = await Play(evidence, admit=[admit], settle=settle).run()

    assert told in played.said


# The own id of call 1, where chance gives this.
ID = f"fencegate-{'0' * 32}-MQ"


@pytest.fixture
def _own_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.flow.own_id.secrets.token_hex", lambda _: "0" * 32)


@pytest.mark.usefixtures("_own_id")
@pytest.mark.parametrize("protocol", ["mcp", "http"])
async def test_an_answer_that_asks_for_more_input_is_an_answer(protocol: Protocol) -> None:
    """The tool has run, and may have acted before it asked: a repeat gets the question again, and runs nothing."""
    asks = f'{{"jsonrpc": "2.0", "id": "{ID}", "result": {{"resultType": "input_required"}}}}'.encode()
    play = Play(answer(200, (asks, True), headers=(JSON,)))
    play.rule = replace(play.rule, upstream=replace(UPSTREAM, protocol=protocol))
    play.call = Call("1", b"1", 0) if protocol == "mcp" else None

    await play.run(b"1")

    assert any(line.startswith("settle t1 applied: answered 200, keeping 200 ") for line in play.said)


EVENTS = (b"Content-Type", b"text/event-stream")
NOTE = b'data: {"jsonrpc": "2.0", "method": "notifications/message"}\n\n'
RESULT = f'data: {{"jsonrpc": "2.0", "id": "{ID}", "result": {{}}}}\n\n'.encode()


@pytest.mark.usefixtures("_own_id")
@pytest.mark.parametrize(
    ("evidence", "settled"),
    [
        (
            answer(200, (NOTE * 2000, False), RESULT, b"", headers=(EVENTS,)),
            "applied: answered 200, " + RESULT.decode().replace(f'"{ID}"', "1"),
        ),
        (answer(200, (NOTE * 2000, False), RESULT, RESULT, b"", headers=(EVENTS,)), "unknown: answered 200"),
        (answer(200, (b" " * (1 << 20), False), RESULT[6:], b"", headers=(JSON,)), "unknown: answered 200"),
        (answer(200, (RESULT[6:], True), headers=(JSON, (b"Content-Encoding", b"br"))), "unknown: answered 200"),
        (answer(400, (b"x", True), headers=(JSON, (b"Content-Encoding", b"br"))), "unknown: answered 400"),
        (answer(400, (b"x", True), headers=(JSON,)), "not_applied: answered 400"),
    ],
    ids=[
        "long stream",
        "answered twice",
        "too large",
        "in a coding",
        "a refusal in a coding",
        "a refusal",
    ],
)
async def test_an_mcp_answer_counts_by_what_was_read_of_it(evidence: object, settled: str) -> None:
    """Of a stream too long to be kept, repeats get the event with the answer; what cannot be read proves nothing."""
    play = Play(evidence)
    play.rule = replace(play.rule, upstream=replace(UPSTREAM, protocol="mcp"))
    play.call = Call("1", b"1", 0)

    await play.run(b"1")

    [line] = [line for line in play.said if line.startswith("settle")]
    assert line.replace("keeping 200 ", "") == f"settle t1 {settled}"


@pytest.mark.usefixtures("_own_id")
@pytest.mark.parametrize(
    "evidence",
    [
        answer(200, (NOTE * 2000, False), b"", headers=(EVENTS,)),
        answer(200, (NOTE, True), headers=(EVENTS,)),
        answer(200, (RESULT[6:].replace(b"{}", b'{"resultType": "task", "taskId": "t"}'), True), headers=(JSON,)),
        answer(202, (b"", True)),
        answer(500, (b"Session terminated", True)),
        NoReply("closed", "it closed"),
    ],
    ids=["a stream", "a short one", "a task was begun", "accepted", "a fault", "no answer at all"],
)
async def test_a_call_of_which_nothing_is_heard_is_unfinished(evidence: object) -> None:
    """A server ends answers where a session is closed, by whoever knows that, and its tool goes on: no other holder is
    let in meanwhile."""
    play = Play(evidence)
    play.rule = replace(play.rule, upstream=replace(UPSTREAM, protocol="mcp"))
    play.call = Call("1", b"1", 0)

    await play.run(b"1")

    [line] = [line for line in play.said if line.startswith("settle")]
    assert line.startswith("settle t1 unknown, unfinished: ")


@pytest.mark.parametrize(("size", "kept"), [(5, ", keeping 200 12345"), (6, "")])
async def test_a_late_answer_is_kept_like_any_other(size: int, kept: str) -> None:
    """Its caller was told that nobody knows; whoever repeats the intent gets the answer."""

    async def listen(keep: int) -> LateAnswer | None:
        body = b"123456"[:size]
        return LateAnswer(200, (), body if len(body) <= keep else None)

    overdue = Overdue(NoReply("timeout", "too slow"), listen)
    played = await Play(overdue, IntentTerms("required", store_response=5), settle=[SETTLED] * 3).run()

    assert played.said[-1] == f"settle t1 applied: answered 200, late{kept}"


async def test_an_incident_is_counted() -> None:
    """Evidence that contradicts a resolution is not swallowed."""
    played = await Play(answer(), settle=[Settle(incident="late-write")]).run()

    assert "late-write" in played.counted.said


async def test_a_refusal_of_the_intent_reaches_the_caller() -> None:
    """Whatever the store decides about the intent is told as it is."""
    refused = Refused(OUTCOME_UNKNOWN, "x")

    played = await Play(None, admit=[refused]).run()

    assert played.caller.refusals == [refused]
