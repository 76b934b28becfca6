"""The trail's checkpoint, and verifying it, as operators call them."""

import hashlib
import json
from typing import Any

import pytest

from gateway.store.keys import audit_trail, shard_of
from tests.admin.conftest import Admin
from tests.intending import SEVEN, ended, intended


async def verify(admin: Admin, **document: object) -> Any:
    """All of it, call after call. Untyped: JSON."""
    found: dict[str, Any] = {"events": 0, "findings": [], "next": None}
    while True:
        asked = json.dumps({**document, "cursor": found["next"]}).encode()
        answer = await admin.call("POST", "/api/v1/audit/verify", body=asked)
        assert answer.status == 200, answer.body
        part = json.loads(answer.body)
        found = {
            "events": found["events"] + part["events"],
            "findings": found["findings"] + part["findings"],
            "next": part["next"],
        }
        if found["next"] is None:
            return found


async def checkpoint(admin: Admin) -> Any:
    answer = await admin.call("GET", "/api/v1/audit/checkpoint")
    assert answer.status == 200, answer.body
    return json.loads(answer.body)


async def test_a_checkpoint_is_the_newest_digest_of_each_shard(admin: Admin) -> None:
    """With one digest over them, that can be computed by anybody."""
    await ended(admin.store, intended("k-1"), "applied")

    made = await checkpoint(admin)

    (head,) = made["heads"]
    assert head.split()[:2] == [shard_of(SEVEN), "2"]
    assert made["digest"] == hashlib.sha256(f"{head}\n".encode()).hexdigest()


async def test_what_is_wrong_is_told_with_its_place(admin: Admin, raw: Any) -> None:
    """And nothing where nothing is; with and without a checkpoint."""
    for number in range(3):
        await ended(admin.store, intended(f"k-{number}"), "applied")
    heads = (await checkpoint(admin))["heads"]
    assert await verify(admin, heads=heads) == {"events": 6, "findings": [], "next": None}
    ids = [id for id, _ in raw.xrange(audit_trail(shard_of(SEVEN)))]
    raw.xdel(audit_trail(shard_of(SEVEN)), ids[3])

    (finding,) = (await verify(admin))["findings"]

    assert finding.pop("what").startswith("none is between ")
    assert finding == {"shard": shard_of(SEVEN), "kind": "missing", "first": 4, "last": 4}


@pytest.mark.parametrize(
    "document",
    [
        {"heads": "3ff"},
        {"heads": ["3ff 17"]},
        {"heads": [17]},
        {"heads": [f"400 17 {'0' * 64}"]},
        {"heads": [f"3ff 17 {'0' * 64}"] * 513},
        {"cursor": 17},
        {"cursor": "next please"},
        {"since": "1h"},
    ],
    ids=["no list", "half a head", "no text", "no shard", "too many", "a number", "no cursor", "another member"],
)
async def test_a_slip_in_a_document_is_refused(document: dict[str, object], admin: Admin) -> None:
    """A head that is passed over would be one that fits."""
    answer = await admin.call("POST", "/api/v1/audit/verify", body=json.dumps(document).encode())

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")
