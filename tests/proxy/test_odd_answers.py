"""Answers to a keyed POST in forms that hardly any API has: what they prove, and that nothing is sent twice."""

from pathlib import Path

import pytest

from tests.proxy.mail import mail, send
from tests.recording import OK, answering

NO_BODY = b"Content-Length: 0\r\n\r\n"
NO_WHOLE_ANSWER = {
    "a refusal short of its length": b"HTTP/1.1 400 No\r\nContent-Length: 10\r\n\r\nno",
    "a refusal short of its chunks": b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n",
    "a status below 100": b"HTTP/1.1 099 Odd\r\n" + NO_BODY,
    "bare line feeds": b"HTTP/1.1 400 No\nContent-Length: 0\n\n",
    "a coding that is none": b"HTTP/1.1 400 No\r\nTransfer-Encoding: identity\r\n\r\n",
    "two codings": b"HTTP/1.1 400 No\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "another protocol": b"ICY 400 No\r\n" + NO_BODY,
    "a body alone, as in HTTP/0.9": b'{"error": 400}',
    "a length below zero": b"HTTP/1.1 400 No\r\nContent-Length: -1\r\n\r\n",
    "a NUL in a field": b"HTTP/1.1 400 No\r\nX: a\0b\r\n" + NO_BODY,
    "a field over two lines": b"HTTP/1.1 400 No\r\nX: a\r\n b\r\n" + NO_BODY,
}
REFUSALS = {
    "HTTP/1.0, ended by its connection": (b"HTTP/1.0 400 No\r\n\r\nno", True),
    "behind 103": (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 400 No\r\n" + NO_BODY, False),
    "behind many 102": (b"HTTP/1.1 102 Processing\r\n\r\n" * 300 + b"HTTP/1.1 400 No\r\n" + NO_BODY, False),
    "behind an empty line": (b"\r\nHTTP/1.1 400 No\r\n" + NO_BODY, False),
    "with a trailer": (b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\nX: y\r\n\r\n", False),
    "417": (b"HTTP/1.1 417 No\r\n" + NO_BODY, False),
    "421": (b"HTTP/1.1 421 No\r\n" + NO_BODY, False),
    "a 4xx that nobody knows": (b"HTTP/1.1 460 No\r\n" + NO_BODY, False),
}


@pytest.mark.parametrize("name", NO_WHOLE_ANSWER)
async def test_what_only_looks_like_a_refusal_is_unknown(store_url: str, tmp_path: Path, name: str) -> None:
    """Its key is held, and nothing is sent again."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(NO_WHOLE_ANSWER[name], close=True)
        first = await send(gate)
        gate.upstream.answer = answering(OK)
        second = await send(gate)

        assert (first.status, first.decision) == (504, "outcome-unknown")
        assert (second.status, second.decision) == (409, "outcome-unknown")
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("status", [600, 999])
async def test_a_status_of_no_class_proves_nothing(store_url: str, tmp_path: Path, status: int) -> None:
    """Nobody knows what it says of the write."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 %d Odd\r\n" % status + NO_BODY, close=True)
        first, second = await send(gate), await send(gate)

        assert (first.status, first.decision, first.value("Fencing-Outcome")) == (status, "forwarded", "unknown")
        assert (second.status, second.decision, len(gate.upstream.seen)) == (409, "outcome-unknown", 1)


@pytest.mark.parametrize("name", REFUSALS)
async def test_a_refusal_frees_the_key_in_each_form_that_is_whole(store_url: str, tmp_path: Path, name: str) -> None:
    """The API says that it did not do it, however it says so."""
    data, ends = REFUSALS[name]
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(data, close=ends)
        first = await send(gate)
        gate.upstream.answer = answering(OK)
        second = await send(gate)

        assert (first.status // 100, first.value("Fencing-Outcome")) == (4, "not_applied")
        assert (second.decision, second.value("Fencing-Outcome")) == ("forwarded", "applied")
        assert len(gate.upstream.seen) == 2


@pytest.mark.parametrize("status", [204, 205, 300, 304])
async def test_an_answer_without_a_body_may_say_that_it_was_done(store_url: str, tmp_path: Path, status: int) -> None:
    """It is replayed as any other."""
    length = b"" if status in (204, 304) else b"Content-Length: 0\r\n"
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 %d Done\r\n" % status + length + b"\r\n")
        first, second = await send(gate), await send(gate)

        assert (first.status, first.value("Fencing-Outcome")) == (status, "applied")
        assert (second.status, second.decision, len(gate.upstream.seen)) == (status, "replayed", 1)


async def test_an_answer_that_nobody_asked_for_is_nobodys(store_url: str, tmp_path: Path) -> None:
    """A refusal that comes behind the answer, on the idle connection, frees no key and answers no later write."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(OK + b"HTTP/1.1 400 No\r\n" + NO_BODY)
        first = await send(gate, "k-1")
        gate.upstream.answer = answering(OK)
        second, again = await send(gate, "k-2"), await send(gate, "k-1")

        assert [answer.status for answer in (first, second, again)] == [200, 200, 200]
        assert (second.decision, again.decision) == ("forwarded", "replayed")
        assert [seen.connection for seen in gate.upstream.seen] == [1, 2]


@pytest.mark.parametrize("status", [400, 401, 403, 409, 422, 429])
async def test_a_second_attempts_refusal_says_nothing_of_the_first(store_url: str, tmp_path: Path, status: int) -> None:
    """Where the API itself keeps keys: it is held under the same one, told as unknown, and sent with no other body."""
    native = "http://localhost:{port}\ncapabilities: {{idempotency_key: {{header: Idempotency-Key, retain: 24h}}}}"
    terms = "{{mode: required, on_unknown: retry}}"
    async with mail(store_url, tmp_path, url=native, intent=terms) as gate:
        gate.upstream.answer = answering(b"", close=True)
        await send(gate)
        gate.upstream.answer = answering(b"HTTP/1.1 %d No\r\n" % status + NO_BODY)
        told = [await send(gate), await send(gate), await send(gate, body=b'{"to": "y"}'), await send(gate)]

        assert [answer.value("Fencing-Outcome") for answer in told] == ["unknown", "unknown", None, "unknown"]
        assert [answer.decision for answer in told] == ["forwarded", "forwarded", "intent-mismatch", "forwarded"]
        keys = {tuple(seen.values("Idempotency-Key")) for seen in gate.upstream.seen}
        assert (len(keys), len(gate.upstream.seen)) == (1, 4)
