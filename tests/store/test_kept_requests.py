"""Kept requests in the store: never longer than they are, the same byte for byte when they come back."""

import json
import random
from dataclasses import replace

import pytest

from gateway.core.kept_request import KeptRequest
from gateway.store.kept_requests import QuarantineBounds, deflate_request, inflate_request, spelled
from tests.lateness import kept, late

NOISE = random.Random(1).randbytes(3000)
GZIP = (b"Content-Encoding", b"gzip")


@pytest.mark.parametrize(
    ("request_", "pays"),
    [
        pytest.param(kept(b"{}"), False, id="too short to gain"),
        pytest.param(kept(b'{"a": 1}' * 900), True, id="text"),
        pytest.param(kept(NOISE), False, id="noise"),
        pytest.param(kept(b"a" * 3000, GZIP), False, id="with a coding of its own"),
        pytest.param(kept(None), False, id="its head alone"),
    ],
)
def test_a_request_is_deflated_where_it_pays(request_: KeptRequest, pays: bool) -> None:
    """Its body's own coding stays what it was."""
    stored = deflate_request(request_)

    assert inflate_request(stored) == request_
    assert (len(stored) < len(request_.pack())) is pays
    assert len(stored) <= len(request_.pack())


async def test_a_large_request_is_spelled_like_a_small_one() -> None:
    """In a thread, so that others do not wait."""
    large = late(body=b"x" * (1 << 20))

    one = await spelled(large)

    assert inflate_request(one.request) == large.request
    assert one.id[3:] == large.digest
    assert json.loads(one.about)["size"] == 1 << 20


async def test_what_is_told_of_it_has_no_query() -> None:
    """A query may hold secrets, and lists are shown to many."""
    told = json.loads((await spelled(replace(late(), request=kept(None, target="/reports/7?key=s3cret")))).about)

    assert (told["target"], told["size"]) == ("/reports/7", -1)


@pytest.mark.parametrize(("used", "room"), [(0, 1000), (400, 600), (1000, 0), (2000, 0)])
def test_room_is_what_is_left(used: int, room: int) -> None:
    """More than all of it may be used for a moment: gateways do not wait for each other."""
    assert QuarantineBounds(60.0, 1000).words(used) == f"lives:60000 each:20 shard:256 room:{room}"
