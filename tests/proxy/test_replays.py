"""An intent that was applied is answered from its record: the same bytes, nothing forwarded."""

import asyncio
import gzip
from pathlib import Path

import pytest

from tests.proxy.mail import mail, proof, send
from tests.raw import RawAnswer, RawClient, request
from tests.recording import RecordingUpstream, Seen, answering
from tests.stack import POLICY, stack

HEADS = {
    "every byte": b"Content-Type: application/octet-stream",
    "not UTF-8": b"Content-Type: text/plain",
    "empty": b"X-Nothing: 1",
    "gzip": b"Content-Encoding: gzip",
    "as large as may be": b"Content-Type: a/b",
}
BODIES = {
    "every byte": bytes(range(256)) * 256,
    "not UTF-8": b"\xff\xfe\x00",
    "empty": b"",
    "gzip": gzip.compress(b"text" * 100, mtime=0),
    "as large as may be": b"x" * (64 << 10),
}


def answer(body: bytes, *fields: bytes, status: bytes = b"201 Created") -> bytes:
    head = b"\r\n".join((b"HTTP/1.1 " + status, *fields, b"Content-Length: %d" % len(body)))
    return head + b"\r\n\r\n" + body


def told(answer: RawAnswer) -> tuple[int, bytes, list[tuple[str, str]]]:
    """What a replay repeats."""
    names = ("content-type", "content-encoding", "location", "etag", "x-mail-id")
    return answer.status, answer.body, [pair for pair in answer.fields if pair[0].lower() in names]


@pytest.mark.parametrize("name", BODIES)
async def test_a_replay_is_the_first_answer_byte_for_byte(store_url: str, tmp_path: Path, name: str) -> None:
    """Status, headers of the allow-list and body; marked, and the upstream has executed once."""
    fields = (HEADS[name], b"Location: /mail/7", b'ETag: "7"', b"X-Mail-Id: 7", b"Set-Cookie: a=1", b"X-Rate: 9")
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(answer(BODIES[name], *fields))
        first, second = await send(gate), await send(gate)

        assert first.decision == "forwarded"
        assert second.decision == "replayed"
        assert told(second) == told(first)
        assert second.value("Idempotent-Replayed") == "true"
        assert second.value("Fencing-Epoch") == "42"
        assert second.value("Set-Cookie") is None and second.value("X-Rate") is None
        assert second.whole
        assert len(gate.upstream.seen) == 1


async def test_a_repeat_that_is_larger_than_what_may_be_sent_is_replayed(store_url: str, tmp_path: Path) -> None:
    """Nothing of it is sent, and where a rule compares nothing its body says nothing."""
    bounded = "{{connect: 1s, total: 5s, late: 5s}}\nlimits: {{stream: 8}}"
    async with mail(store_url, tmp_path, timeouts=bounded, intent="{{mode: required, fingerprint: none}}") as gate:
        first = await send(gate, body=b"small")
        async with RawClient(gate.port) as client:
            fields = (*proof(), "Idempotency-Key: k-1", "Transfer-Encoding: chunked")
            await client.send(request("POST", "/mail/out", *fields) + b"10\r\n" + b"x" * 16 + b"\r\n0\r\n\r\n")
            second = await client.answer()

        assert (first.decision, second.decision) == ("forwarded", "replayed")
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
async def test_a_replay_without_a_body_has_no_length(store_url: str, tmp_path: Path, status: bytes) -> None:
    """A reader would wait for what never comes."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 " + status + b"\r\nETag: 7\r\n\r\n")
        await send(gate)
        second = await send(gate)

        assert (second.status, second.decision, second.value("ETag")) == (int(status[:3]), "replayed", "7")
        assert second.value("Content-Length") is None


async def test_a_chunked_answer_is_replayed_whole(store_url: str, tmp_path: Path) -> None:
    """However it was framed; a redirect is an answer like any other."""
    data = b"HTTP/1.1 302 Found\r\nLocation: /x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(data)
        await send(gate)
        second = await send(gate)

        assert (second.status, second.body, second.value("Location")) == (302, b"abc", "/x")


@pytest.mark.parametrize("framing", ["length", "chunked", "stream"])
async def test_an_answer_larger_than_may_be_kept_is_never_run_again(
    store_url: str, tmp_path: Path, framing: str
) -> None:
    """Its first caller gets it whole; who repeats the intent is told that it is done, and that the answer is gone."""
    body = b"x" * ((64 << 10) + 1)
    if framing == "length":
        data = answer(body)
    else:
        kind = b"text/event-stream" if framing == "stream" else b"a/b"
        head = b"HTTP/1.1 201 Created\r\nContent-Type: " + kind + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
        data = head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(data)
        first, second = await send(gate), await send(gate)

        assert (first.status, first.body) == (201, body)
        assert (second.status, second.decision, second.problem["action"]) == (410, "answer-not-kept", "stop")
        assert second.problem["intent"]["state"] == "applied"
        assert len(gate.upstream.seen) == 1


async def test_an_event_stream_is_replayed_too(store_url: str, tmp_path: Path) -> None:
    """Its pieces reach the first caller as they come."""
    release = asyncio.Event()

    async def events(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"9\r\ndata: 1\n\n\r\n")
        await release.wait()
        writer.write(b"9\r\ndata: 2\n\n\r\n0\r\n\r\n")

    async with mail(store_url, tmp_path, upstream=RecordingUpstream(answer=events)) as gate:
        sending = asyncio.ensure_future(send(gate))
        release.set()
        first, second = await sending, await send(gate)

        assert first.body == second.body == b"data: 1\n\ndata: 2\n\n"
        assert (second.decision, len(gate.upstream.seen)) == ("replayed", 1)


async def test_a_successor_gets_the_replay_and_moves_the_epoch(store_url: str, tmp_path: Path) -> None:
    """It repeats its predecessor's steps, each of which takes effect once; from then on the predecessor is stale."""
    async with mail(store_url, tmp_path) as gate:
        first = await send(gate, epoch=41, holder="a")
        second = await send(gate, epoch=42, holder="b")
        late = await send(gate, epoch=41, holder="a")

        assert (second.decision, second.body) == ("replayed", first.body)
        assert (late.status, late.decision) == (412, "stale-epoch")
        assert late.problem["intent"]["state"] == "applied"
        assert len(gate.upstream.seen) == 1


async def test_retries_while_the_first_is_answered_slowly_cause_one_execution(store_url: str, tmp_path: Path) -> None:
    """A client with a short timeout and three attempts: in progress, in progress, replayed."""
    release = asyncio.Event()

    async def slow(_: Seen, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(answer(b"sent"))

    async with mail(store_url, tmp_path, upstream=RecordingUpstream(answer=slow)) as gate:
        first = asyncio.ensure_future(send(gate))
        while not gate.upstream.seen:
            await asyncio.sleep(0)
        tries = [await send(gate) for _ in range(2)]
        release.set()
        got = await first
        last = await send(gate)

        for each in tries:
            assert (each.status, each.decision, each.value("Retry-After")) == (409, "intent-in-progress", "1")
            assert each.problem["action"] == "retry"
        assert (got.body, last.body, last.decision) == (b"sent", b"sent", "replayed")
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("first", ["json", "json of a value", "bytes"], ids=["JSON", "another value", "no JSON"])
async def test_the_same_key_with_another_request_is_refused(store_url: str, tmp_path: Path, first: str) -> None:
    """Neither its answer nor a second execution; JSON is compared by value, everything else by its bytes."""
    kind = "Content-Type: text/plain" if first == "bytes" else "Content-Type: application/json"
    bodies = {
        "json": (b'{"to": "x", "n": 1.0}', b'{ "n":1.0,"to":"x" }', b'{"to": "x", "n": 1}'),
        "json of a value": (b"[1, 2]", b"[1,2]", b"[2,1]"),
        "bytes": (b"a b", b"a b", b"a  b"),
    }[first]
    async with mail(store_url, tmp_path) as gate:
        await send(gate, "k-1", kind, body=bodies[0])
        same = await send(gate, "k-1", kind, body=bodies[1])
        other = await send(gate, "k-1", kind, body=bodies[2])

        assert same.decision == "replayed"
        assert (other.status, other.decision, other.problem["action"]) == (422, "intent-mismatch", "stop")
        assert "intent" not in other.problem, "who asks for something else is not told of it"
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize(
    ("target", "key", "method"),
    [
        *(("/mail/in", "k-1", "POST"), ("/mail/out?a=1", "k-1", "POST"), ("/mail/out", "k-1", "PUT")),
        *(("/mail/out", "k-2", "POST"), ("/mail/out", "K-1", "POST")),
    ],
    ids=["resource", "query", "method", "key", "case"],
)
async def test_the_same_key_elsewhere_is_another_intent(
    store_url: str, tmp_path: Path, target: str, key: str, method: str
) -> None:
    """Two executions, two answers."""
    async with mail(store_url, tmp_path) as gate:
        await send(gate)
        second = await send(gate, key, target=target, method=method)

        assert second.decision == "forwarded"
        assert len(gate.upstream.seen) == 2


# Of `/mail/out`: the same request in other letters; another one; none.
ALIKE = ["", "?", "?&", "?&&"]
OTHER = ["?a=1", "?a=1&a=1", "?b=2&a=1"]
OTHER_ALIKE = [
    ["?a=%31", "?a=1&", "?&a=1", "?%61=1", "?%61=%31"],
    ["?a=%31&a=1"],
    ["?a=1&b=2", "?&b=2&a=1", "?a=1&b=2&", "?%61=1&b=2"],
]


@pytest.mark.parametrize("path", ["/mail/out", "/mail/%6fut", "/mail/%6F%75%74"])
async def test_a_target_in_another_spelling_is_the_same_intent(store_url: str, tmp_path: Path, path: str) -> None:
    """Escapes that say the same, and a query that says nothing: whichever comes first is sent, and no other."""
    async with mail(store_url, tmp_path) as gate:
        first = await send(gate, target=f"{path}?&")
        same = [await send(gate, target=f"{one}{query}") for one in ("/mail/out", path) for query in ALIKE]
        other = [await send(gate, target=f"{path}{query}", body=b'{"to": "y"}') for query in ALIKE]

        assert first.decision == "forwarded"
        assert {answer.decision for answer in same} == {"replayed"}
        assert {answer.decision for answer in other} == {"intent-mismatch"}
        assert len(gate.upstream.seen) == 1


async def test_another_query_is_another_intent_however_it_is_spelled(store_url: str, tmp_path: Path) -> None:
    """Each is sent once; its own other spellings replay."""
    async with mail(store_url, tmp_path) as gate:
        told = [(await send(gate, target=f"/mail/out{query}")).decision for query in ("", *OTHER)]
        again = [await send(gate, target=f"/mail/out{query}") for alike in OTHER_ALIKE for query in alike]

        assert told == ["forwarded"] * 4
        assert {answer.decision for answer in again} == {"replayed"}
        assert len(gate.upstream.seen) == 4


@pytest.mark.parametrize(
    ("kind", "decision"),
    [
        ("application/json; charset=utf-8", "replayed"),
        ("application/json;charset=UTF-8", "replayed"),
        ("text/plain", "intent-mismatch"),
        ("application/octet-stream", "intent-mismatch"),
    ],
)
async def test_the_same_bytes_of_another_type_are_another_request(
    store_url: str, tmp_path: Path, kind: str, decision: str
) -> None:
    """A charset that JSON has anyhow makes none."""
    async with mail(store_url, tmp_path) as gate:
        await send(gate)
        second = await send(gate, "k-1", f"Content-Type: {kind}")

        assert second.decision == decision
        assert len(gate.upstream.seen) == 1


async def test_characters_that_need_no_escape_are_the_same_intents(store_url: str, tmp_path: Path) -> None:
    """In the path, and a blank in the query, which forms write as a plus."""
    alike = [["a~b", "a%7Eb", "%61~b"], ["b?q=a%20b", "b?q=a+b", "%62?q=%61+b"]]
    alike.append(["c?b=2&a=+1", "c?b=2&a=%201", "c?a=+1&b=2"])
    alike += [["d?q=~", "d?q=%7E", "d?q=%7e"], ["e?q=%C3%A9", "e?q=%c3%a9", "e?q=%C3%a9"], ["f?q", "f?q=", "f?&q="]]
    alike += [["g?q[]=1,2", "g?q%5B%5D=1%2C2", "g?q%5b%5d=1,2"], ["h?q=a/b:c@d", "h?q=a%2Fb%3Ac%40d", "h?%71=a/b:c@d"]]
    async with mail(store_url, tmp_path) as gate:
        told = [[(await send(gate, target=f"/mail/{box}")).decision for box in boxes] for boxes in alike]

        assert told == [["forwarded", "replayed", "replayed"]] * len(alike)
        assert len(gate.upstream.seen) == len(alike)


async def test_a_key_that_names_the_resource_is_one_quoted_or_not(store_url: str, tmp_path: Path) -> None:
    """Its lease too: what is made under a key belongs to whoever has the key."""
    policy = POLICY.replace("reports/{{id}}", "reports").replace("path.id", "header.idempotency-key")
    async with stack(store_url, tmp_path, policy + "    intent: {{mode: required}}\n") as gate:
        await gate.lease("report/o1")
        told = [await gate.write("/reports", f"Idempotency-Key: {key}") for key in ("o1", '"o1"')]

        assert [answer.decision for answer in told] == ["forwarded", "replayed"]
        assert len(gate.upstream.seen) == 1


async def test_a_quoted_key_and_a_bare_one_are_the_same(store_url: str, tmp_path: Path) -> None:
    """As the IETF draft has it, and as most clients send it."""
    async with mail(store_url, tmp_path) as gate:
        await send(gate, '"abc"')
        second = await send(gate, "abc")

        assert second.decision == "replayed"


@pytest.mark.parametrize(
    "value",
    ["", '""', "k" * 256, "\xe9", "a\x00", "a b", '"a', "a\tb", '"a";b=1', '"a" "b"'],
    ids=["empty", "empty quoted", "256", "accent", "NUL", "blank", "half quoted", "tab", "parameter", "two"],
)
async def test_a_malformed_key_is_refused_before_anything_moves(store_url: str, tmp_path: Path, value: str) -> None:
    """400; the epoch that came with it is not recorded."""
    async with mail(store_url, tmp_path) as gate:
        answer = await send(gate, value, epoch=50)
        older = await send(gate, epoch=49)

        assert answer.status == 400
        assert answer.decision in ("header-malformed", "bad-request")
        assert older.decision == "forwarded"


async def test_a_rule_that_wants_a_key_and_gets_none(store_url: str, tmp_path: Path) -> None:
    """400 before anything moves; the problem says what to send."""
    async with mail(store_url, tmp_path) as gate:
        answer = await send(gate, None, epoch=50)
        older = await send(gate, epoch=49)

        assert (answer.status, answer.decision) == (400, "idempotency-key-required")
        assert answer.problem["action"] == "fix-request"
        assert older.decision == "forwarded"


async def test_a_key_that_may_be_left_out(store_url: str, tmp_path: Path) -> None:
    """Without one every write is forwarded."""
    async with mail(store_url, tmp_path, intent="{{mode: optional}}") as gate:
        answers = [await send(gate, key) for key in (None, None, "k", "k")]

        assert [answer.decision for answer in answers] == ["forwarded", "forwarded", "forwarded", "replayed"]


async def test_a_key_under_a_rule_without_intents_only_passes(store_url: str, tmp_path: Path) -> None:
    """It is the upstream's to honour."""
    async with mail(store_url, tmp_path, intent="{{mode: 'off'}}") as gate:
        answers = [await send(gate, "k"), await send(gate, "k")]

        assert [answer.decision for answer in answers] == ["forwarded", "forwarded"]
        assert gate.upstream.seen[0].values("Idempotency-Key") == ["k"]


async def test_what_one_agent_was_set_as_a_cookie_is_never_sent_for_another(store_url: str, tmp_path: Path) -> None:
    """Neither to the upstream nor in a replay."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(answer(b"", b"Set-Cookie: session=a"))
        await send(gate, "k-1", epoch=41, holder="a")
        other = await send(gate, "k-1", epoch=42, holder="b")
        await send(gate, "k-2", epoch=42, holder="b")

        assert other.value("Set-Cookie") is None
        assert [seen.values("Cookie") for seen in gate.upstream.seen] == [[], []]


async def test_a_hundred_requests_with_one_key_execute_once(store_url: str, tmp_path: Path) -> None:
    """The others are in progress, or get the same bytes."""
    async with mail(store_url, tmp_path) as gate:
        answers = await asyncio.gather(*(send(gate, body=b'{"n": 1}') for _ in range(100)))

        assert len(gate.upstream.seen) == 1
        assert {answer.decision for answer in answers} <= {"forwarded", "replayed", "intent-in-progress"}
        assert {answer.body for answer in answers if answer.decision != "intent-in-progress"} == {b'{"ok":true}'}
