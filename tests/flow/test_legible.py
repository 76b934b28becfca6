"""Bodies that rules read: whole, within their limit, decoded, and in memory only as there is room for them."""

import gzip
from dataclasses import replace

import pytest

from gateway.core.decision import BODY_TOO_LARGE, NO_ROOM, UNSUPPORTED_CODING, Decision, Refused
from gateway.core.faults import BodyTooLarge, NoRoom
from gateway.core.request import Headers, Request
from gateway.flow.legible import Arrived, arrive
from tests.playbook.caller import NoBody, ScriptedCaller
from tests.playbook.given import request
from tests.playbook.script import Transcript

LIMIT = 100


class Body(NoBody):
    """`buffered`: it is here already; else it is spooled, to the disk where it is `on_disk`."""

    def __init__(
        self, data: bytes, *, buffered: bool = True, on_disk: bool = False, fault: Exception | None = None
    ) -> None:
        self._data = data
        self._buffered = buffered
        self._on_disk = on_disk
        self._fault = fault
        self._at = 0
        self.length = len(data) if buffered else None
        self.limits: list[int | None] = []

    def take_buffered(self) -> bytes | None:
        return self._data if self._buffered else None

    def restrict(self, limit: int | None) -> None:
        self.limits.append(limit)

    async def spool(self, feed: object, in_memory: int) -> bytes | None:
        if self._fault is not None:
            raise self._fault
        self.length = len(self._data)
        return None if self._on_disk else self._data

    async def read(self) -> bytes:
        piece = self._data[self._at :]
        self._at = len(self._data)
        return piece

    def rewind(self) -> bool:
        self._at = 0
        return True


def coded(coding: bytes) -> Request:
    return replace(request(), headers=Headers(((b"Content-Encoding", coding),)))


async def arrived(body: Body) -> Arrived | Refused:
    return await arrive(body, LIMIT, ScriptedCaller(Transcript()))


@pytest.mark.parametrize(
    ("body", "takes"),
    [
        (Body(b"{}"), 0),
        (Body(b"{}", buffered=False), 0),
        (Body(b"{}", buffered=False, on_disk=True), 2),
    ],
    ids=["here", "came", "on disk"],
)
async def test_a_body_is_read_whole_and_takes_the_memory_that_it_does_not_have(body: Body, takes: int) -> None:
    """Coded, it may take as much as a body may have, wherever it is. What it may have bounds nothing afterwards."""
    found = await arrived(body)
    assert isinstance(found, Arrived)

    read = await found.read(request(), LIMIT)

    assert isinstance(read, Request) and read.body == b"{}"
    assert (found.takes(request(), LIMIT), found.takes(coded(b"gzip"), LIMIT)) == (takes, LIMIT)
    assert body.limits in ([], [LIMIT, None])


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        (Body(bytes(LIMIT + 1)), BODY_TOO_LARGE),
        (Body(bytes(LIMIT + 1), buffered=False), BODY_TOO_LARGE),
        (Body(b"", buffered=False, fault=BodyTooLarge("x")), BODY_TOO_LARGE),
        (Body(b"", buffered=False, fault=NoRoom("the disk is full")), NO_ROOM),
    ],
    ids=["announced", "found whole", "found on the way", "no disk"],
)
async def test_one_that_cannot_be_taken_is_refused(body: Body, decision: Decision) -> None:
    """Before a rule has looked at it."""
    found = await arrived(body)

    assert isinstance(found, Refused) and found.decision is decision


@pytest.mark.parametrize(
    ("coding", "data", "expected"),
    [(b"gzip", gzip.compress(b"{}"), b"{}"), (b"br", b"x", UNSUPPORTED_CODING), (b"gzip", b"x", UNSUPPORTED_CODING)],
    ids=["gzip", "unknown", "broken"],
)
async def test_rules_see_it_decoded(coding: bytes, data: bytes, expected: bytes | Decision) -> None:
    """Or not at all."""
    found = await arrived(Body(data))
    assert isinstance(found, Arrived)

    read = await found.read(coded(coding), LIMIT)

    assert (read.decision if isinstance(read, Refused) else read.body) == expected
