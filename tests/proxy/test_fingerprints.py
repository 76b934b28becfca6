"""What an intent's request said is compared, however its body comes, and whatever the body's size."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from tests.proxy.mail import mail, proof, send
from tests.raw import RawClient, request
from tests.stack import Stack

CHUNKED = "Transfer-Encoding: chunked"
LARGE = bytes(range(256)) * 4096


def chunked(body: bytes, size: int) -> bytes:
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def multipart(boundary: str, *parts: bytes) -> bytes:
    lines = b"".join(b"--%b\r\n%b\r\n" % (boundary.encode(), part) for part in parts)
    return lines + b"--%b--\r\n" % boundary.encode()


async def send_raw(gate: Stack, *fields: str, data: bytes) -> tuple[int, str | None]:
    """A write whose framing is the test's own."""
    async with RawClient(gate.port) as client:
        await client.send(request("POST", "/mail/out", *proof(), "Idempotency-Key: k-1", *fields) + data)
        answer = await client.answer()
        return answer.status, answer.decision


@pytest.mark.parametrize("size", [1, 100, 300_000], ids=["byte by byte", "small pieces", "large pieces"])
@pytest.mark.parametrize("body", [b'{"to": "x"}' * 10, LARGE], ids=["small", "large"])
async def test_a_chunked_body_is_the_same_request(store_url: str, tmp_path: Path, size: int, body: bytes) -> None:
    """It is read before it is admitted, and forwarded byte for byte with its length; its pieces say nothing."""
    size = size if len(body) < 1000 or size > 1 else 1000
    async with mail(store_url, tmp_path) as gate:
        kind = "Content-Type: text/plain"
        first = await send(gate, "k-1", kind, body=body)
        second = await send_raw(gate, kind, CHUNKED, data=chunked(body, size))
        other = await send_raw(gate, kind, CHUNKED, data=chunked(body + b"x", size))

        assert first.decision == "forwarded"
        assert second == (200, "replayed")
        assert other == (422, "intent-mismatch")
        assert [seen.body for seen in gate.upstream.seen] == [body]


async def test_another_number_is_another_request_and_its_caller_is_told_so(store_url: str, tmp_path: Path) -> None:
    """Languages spell one value in several ways: whoever goes on in another one reads what to look for."""
    async with mail(store_url, tmp_path) as gate:
        kind = "Content-Type: application/json"
        await send(gate, "k-1", kind, body=b'{"amount": 10.0, "to": "x"}')
        same = await send(gate, "k-1", kind, body=b'{"to":"x","amount":10.0}')
        other = await send(gate, "k-1", kind, body=b'{"amount": 10, "to": "x"}')

        assert (same.decision, other.decision) == ("replayed", "intent-mismatch")
        assert "with numbers as they were spelled (`10` is not `10.0`)" in json.loads(other.body)["detail"]


async def test_a_large_chunked_body_arrives_whole(store_url: str, tmp_path: Path) -> None:
    """From the disk, with its length."""
    async with mail(store_url, tmp_path) as gate:
        told = await send_raw(gate, CHUNKED, data=chunked(LARGE, 10_000))

        assert told == (200, "forwarded")
        assert gate.upstream.seen[0].body == LARGE
        assert gate.upstream.seen[0].values("Content-Length") == [str(len(LARGE))]
        assert gate.upstream.seen[0].values("Transfer-Encoding") == []


async def test_a_multipart_body_is_its_parts(store_url: str, tmp_path: Path) -> None:
    """Clients draw a new boundary for each attempt."""
    part = b'Content-Disposition: form-data; name="file"; filename="a"\r\n\r\n' + LARGE[:100_000] + b"\r\n"
    async with mail(store_url, tmp_path) as gate:
        for boundary, expected in (("one", "forwarded"), ("other", "replayed")):
            kind = f"Content-Type: multipart/form-data; boundary={boundary}"
            answer = await send(gate, "k-1", kind, body=multipart(boundary, part))
            assert answer.decision == expected
        twice = await send(gate, "k-1", kind, body=multipart("other", part, part))

        assert twice.decision == "intent-mismatch"


async def test_json_is_compared_by_value_under_its_coding(store_url: str, tmp_path: Path) -> None:
    """Two encoders make other bytes of one value; the upstream gets the bytes as they came."""
    async with mail(store_url, tmp_path) as gate:
        fields = ("Content-Type: application/json", "Content-Encoding: gzip")
        body = gzip.compress(b'{"a": 1, "b": [true]}', mtime=0)
        await send(gate, "k-1", *fields, body=body)
        second = await send(gate, "k-1", *fields, body=gzip.compress(b'{"b":[true],"a":1}', 1, mtime=5))
        plain = await send(gate, "k-1", body=b'{"b":[true],"a":1}')

        assert [second.decision, plain.decision] == ["replayed", "replayed"]
        assert gate.upstream.seen[0].body == body


@pytest.mark.parametrize(
    ("fingerprint", "body", "decision"),
    [
        ("[/to]", b'{"to": "x", "at": 2}', "replayed"),
        ("[/to]", b'{"to": "y", "at": 1}', "intent-mismatch"),
        ("[/to]", b"no json", "ambiguous-target"),
        ("none", b"anything", "replayed"),
    ],
    ids=["the same there", "another there", "no JSON", "nothing is compared"],
)
async def test_a_rule_says_what_is_compared(
    store_url: str, tmp_path: Path, fingerprint: str, body: bytes, decision: str
) -> None:
    """Chosen members, or nothing."""
    async with mail(store_url, tmp_path, intent=f"{{{{mode: required, fingerprint: {fingerprint}}}}}") as gate:
        await send(gate, body=b'{"to": "x", "at": 1}')
        second = await send(gate, body=body)

        assert second.decision == decision
        assert len(gate.upstream.seen) == 1


async def test_null_says_something_and_a_form_cannot_be_compared(store_url: str, tmp_path: Path) -> None:
    """A member that is missing is another request than one that is null, whichever comes first."""
    missing, null = b'{"to": "x"}', b'{"amount": null, "to": "x"}'
    async with mail(store_url, tmp_path, intent="{{mode: required, fingerprint: [/amount]}}") as gate:
        for key, first, other in (("k-1", missing, null), ("k-2", null, missing)):
            assert (await send(gate, key, body=first)).decision == "forwarded"
            told = await send(gate, key, body=other)
            assert (told.status, told.decision) == (422, "intent-mismatch")
        form = await send(gate, "k-3", "Content-Type: application/x-www-form-urlencoded", body=b"amount=5")

        assert (form.status, form.decision) == (400, "ambiguous-target")
        assert len(gate.upstream.seen) == 2


@pytest.mark.parametrize("size", [1, 300_000], ids=["in memory", "on disk"])
async def test_a_call_of_json_rpc_is_not_its_id(store_url: str, tmp_path: Path, size: int) -> None:
    """A client numbers its calls anew after a restart; the replay carries the id that was asked now."""

    def call(id: object, letter: str = "x") -> bytes:
        text = letter * size
        return json.dumps({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"text": text}}).encode()

    async with mail(store_url, tmp_path) as gate:

        async def answer(seen: object, writer: asyncio.StreamWriter) -> None:
            body = b'{"jsonrpc":"2.0","result":{"n":1.0},"id":1}'
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            writer.write(head + body)

        gate.upstream.answer = answer
        await send(gate, body=call(1))
        second = await send(gate, body=call("two"))
        other = await send(gate, body=call(1, "y"))

        assert (second.decision, second.body) == ("replayed", b'{"jsonrpc":"2.0","result":{"n":1.0},"id":"two"}')
        assert other.decision == "intent-mismatch"


@pytest.mark.parametrize("framing", ["Content-Length: 1073741824", CHUNKED])
async def test_a_stale_token_is_refused_before_a_body_is_read(store_url: str, tmp_path: Path, framing: str) -> None:
    """With `Expect: 100-continue` the refusal is the first line back, though the body would have to be digested."""
    async with mail(store_url, tmp_path) as gate:
        await send(gate, "before", epoch=43)
        async with RawClient(gate.port) as client:
            fields = (*proof(42), "Idempotency-Key: k-1", "Expect: 100-continue", framing)
            await client.send(request("POST", "/mail/out", *fields))
            line = await client.line()

        assert line == b"HTTP/1.1 412 Precondition Failed\r\n"


async def test_a_live_token_is_told_once_to_go_on(store_url: str, tmp_path: Path) -> None:
    """One 100, then the answer."""
    async with mail(store_url, tmp_path) as gate, RawClient(gate.port) as client:
        fields = (*proof(), "Idempotency-Key: k-1", "Expect: 100-continue", "Content-Length: 2")
        await client.send(request("POST", "/mail/out", *fields))
        assert await client.line() == b"HTTP/1.1 100 Continue\r\n"
        assert await client.line() == b"\r\n"
        await client.send(b"{}")

        assert (await client.answer()).decision == "forwarded"


async def test_a_body_beyond_what_may_flow_is_refused_while_it_comes(store_url: str, tmp_path: Path) -> None:
    """Nothing is admitted: the key is free for a smaller one."""
    async with mail(store_url, tmp_path, url="http://localhost:{port}\nlimits: {{stream: 1000}}") as gate:
        refused = await send_raw(gate, CHUNKED, data=chunked(b"x" * 1001, 100))
        passed = await send_raw(gate, CHUNKED, data=chunked(b"x" * 1000, 100))

        assert refused == (413, "body-too-large")
        assert passed == (200, "forwarded")


async def test_a_caller_that_leaves_within_its_body_leaves_nothing(store_url: str, tmp_path: Path) -> None:
    """Nothing was admitted, nothing reached the upstream; the key is free."""
    async with mail(store_url, tmp_path) as gate:
        async with RawClient(gate.port) as client:
            fields = (*proof(), "Idempotency-Key: k-1", "Content-Length: 1000000")
            await client.send(request("POST", "/mail/out", *fields) + b"x" * 300_000)
        answer = await send(gate)

        assert answer.decision == "forwarded"
        assert [seen.body for seen in gate.upstream.seen] == [b'{"to": "x"}']
        assert gate.upstream.partial == []


QUERIES = [
    "a=x%20y&b[x]=~&c=1:2&d=%C3%BC",
    "b[x]=~&a=x%20y&d=%C3%BC&c=1:2",
    "a=x+y&b%5Bx%5D=%7E&c=1%3A2&d=%c3%bc",
    "d=%c3%BC&c=1%3a2&b%5bx%5d=%7e&a=x%20y",
]
BODIES = [
    b'{"to": "x", "text": "\xc3\xbc", "of": {"a": 1, "b": [1, 2]}}',
    b'{"of":{"b":[1,2],"a":1},"text":"\\u00fc","to":"x"}',
    b'{\n  "text": "\xc3\xbc",\n  "of": {"a": 1, "b": [1, 2]},\n  "to": "x"\n}\n',
]


async def test_a_client_of_another_language_asks_for_the_same_intent(store_url: str, tmp_path: Path) -> None:
    """Libraries put a query in order and escape it as they like, and so it is with JSON; a bare `?` is nothing."""
    async with mail(store_url, tmp_path) as gate:
        queries = [await send(gate, "k-1", target=f"/mail/out?{query}") for query in QUERIES]
        other = await send(gate, "k-1", target=f"/mail/out?{QUERIES[0]}&e=1")
        bodies = [await send(gate, "k-2", body=body) for body in BODIES]
        bare = [await send(gate, "k-3", target=f"/mail/out{end}") for end in ("", "?")]

        replayed = ["forwarded", *["replayed"] * 3]
        assert [one.decision for one in queries] == replayed
        assert [[one.decision for one in some] for some in (bodies, bare)] == [replayed[:3], replayed[:2]]
        assert other.decision == "forwarded"
