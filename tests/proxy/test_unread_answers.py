"""A caller that asks and asks, and reads no answer: the gateway waits for it, and holds next to nothing for it."""

import pytest
from aiohttp import web

from gateway.core.decision import SHOWN
from gateway.proxy import connection
from gateway.proxy.body import IncomingBody
from gateway.proxy.reply import Reply, Sent
from tests.proxy.arriving import handled
from tests.raw import RawClient, request
from tests.until import until

ANSWER = b"x" * (64 << 10)
# Far more than the system and the client's own reader take: 128 MiB of answers.
MANY = 2_000


class Answering:
    """Answers each request at once, as the gateway answers reads."""

    def __init__(self) -> None:
        self.answered = 0
        self.protocol: connection.Connection | None = None

    async def __call__(self, raw: web.BaseRequest) -> Sent:
        assert isinstance(raw.protocol, connection.Connection)
        self.protocol = raw.protocol
        reply = Reply(raw, IncomingBody(raw, 0))
        reply.own(SHOWN, b"text/plain", ANSWER)
        self.answered += 1
        return reply.sent()

    def is_held_up(self) -> bool:
        return self.protocol is not None and self.protocol.writing_paused

    def held(self) -> int:
        assert self.protocol is not None and self.protocol.transport is not None
        return self.protocol.transport.get_write_buffer_size()


async def test_no_request_is_taken_before_the_answers_to_those_before_it() -> None:
    """Once they are, the row goes on, and each has its answer."""
    answering = Answering()
    async with handled(answering) as port, RawClient(port) as client:
        client.writer.write(request("GET", "/") * MANY)
        await until(answering.is_held_up)

        assert answering.held() <= 2 * len(ANSWER) + 1_000
        assert answering.answered < MANY
        for _ in range(MANY):
            assert (await client.answer("GET")).body == ANSWER


async def test_a_caller_that_never_reads_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection, and what was held for it, are another's."""
    monkeypatch.setattr(connection, "_TAKES_WITHIN_S", 0.05)
    answering = Answering()
    async with handled(answering) as port, RawClient(port) as client:
        client.writer.write(request("GET", "/") * MANY)
        await until(lambda: answering.protocol is not None and answering.protocol.transport is None)

        assert answering.answered < MANY
