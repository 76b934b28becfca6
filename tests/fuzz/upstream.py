"""An upstream that acts on whatever a strict reader finds on its connections, and has each request judged."""

import asyncio
from typing import cast

from tests.fuzz.answers import answer_to
from tests.fuzz.oracle import Oracle
from tests.fuzz.reader import read


class JudgingUpstream(asyncio.Protocol):
    """One connection from the gateway."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        reading = read(self._unread)
        self._unread = self._unread[reading.taken :]
        for message in reading.messages:
            self._oracle.saw(message)
            answer = answer_to(message)
            self._transport.write(answer.data)
            if answer.closes or not message.keeps_alive:
                self._transport.close()
        if reading.faulty:
            self._oracle.found.append(f"the upstream was sent what is no request: {self._unread[:2_000]!r}")
            self._transport.abort()
