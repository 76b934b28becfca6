"""The store as operators see it, and their word after a loss."""

import json
from typing import Any

from gateway.core.problem import instant
from gateway.store.keys import resource_keys, store_record
from tests.admin.conftest import Admin
from tests.store.fences import RESOURCE
from tests.store.parked import id_of, mail, parked

ACCEPT = "/api/v1/store/accept"


def lose(raw: Any, floor: int) -> None:
    """As `regress.lua` and `regress_shard.lua` leave it."""
    about = {"incarnation": "b", "began": 1, "since": 5, "floor": floor, "why": "it was emptied", "by": "one"}
    raw.hset(store_record("000"), mapping=about)
    raw.set(f"{resource_keys(RESOURCE)[6]}lost", f"{floor} open")


async def accept(admin: Admin, body: bytes = b'{"note": "looked at the mailbox"}') -> Any:
    return await admin.call("POST", ACCEPT, body=body)


async def test_a_store_that_has_all_of_it(admin: Admin, raw: Any) -> None:
    """Its incarnation, and who leaves marks there; nothing to be accepted."""
    raw.hset(store_record("000"), mapping={"incarnation": "a", "began": 1000})
    now_ms = admin.store.expected_ms()
    raw.hset("fg:{000}:marks", mapping={"one": f"7 {now_ms}", "long gone": "7 2000"})

    shown = json.loads((await admin.call("GET", "/api/v1/store")).body)

    assert shown["regressed"] is False
    assert shown["servers"] == [
        {
            "shard": "000",
            "away": None,
            "incarnation": "a",
            "began_at": "1970-01-01T00:00:01.000Z",
            "loss": None,
            "marks": [{"process": "one", "number": 7, "made_at": instant(now_ms)}],
        }
    ]
    answer = await accept(admin)
    assert (answer.status, answer.problem["type"]) == (409, "urn:fencegate:wrong-state")


async def test_a_call_that_names_what_was_looked_at_accepts_no_later_loss(admin: Admin, raw: Any) -> None:
    """However late it comes; and what is no floor accepts nothing."""
    lose(raw, 42)

    later = await accept(admin, b'{"note": "looked", "floor": "41"}')
    none = await accept(admin, b'{"note": "looked", "floor": 42}')
    same = await accept(admin, b'{"note": "looked", "floor": "42"}')

    assert (later.status, none.status, same.status) == (409, 400, 200)


async def test_a_loss_is_shown_and_accepted_once(admin: Admin, raw: Any) -> None:
    """Since when, why and by whom it was found; then who accepted it, why, and what is unknown now."""
    await parked(admin.store, mail("one"))
    lose(raw, admin.store.expected_ms() + 1)

    before = json.loads((await admin.call("GET", "/api/v1/store")).body)
    answer = await accept(admin)
    after = json.loads(answer.body)
    again = await accept(admin)

    loss = before["servers"][0]["loss"]
    assert (before["regressed"], loss["why"], loss["by"], loss["accepted_at"]) == (True, "it was emptied", "one", None)
    assert (answer.status, after["became_unknown"], after["store"]["regressed"]) == (200, 1, False)
    loss = after["store"]["servers"][0]["loss"]
    assert (loss["accepted_by"], loss["note"]) == ("operator", "looked at the mailbox")
    record = await admin.store.recall(id_of(mail("one")))
    assert record is not None
    assert record.state == "unknown"
    assert again.status == 409


async def test_a_gateway_is_not_ready_until_then(admin: Admin, raw: Any) -> None:
    """Whoever reads the reason knows what to do."""
    lose(raw, 9)
    answer = await admin.call("GET", "/readyz")
    assert answer.status == 503
    assert "`fencegate store` shows more" in json.loads(answer.body)["reasons"][0]

    await accept(admin)
    assert (await admin.call("GET", "/readyz")).status == 200


async def test_a_note_is_wanted(admin: Admin, raw: Any) -> None:
    """Nothing is accepted without a word of why."""
    lose(raw, 9)
    for body in (b"{}", b'{"note": ""}', b'{"note": "x", "all": true}', b"[", b'{"note": "a\\u0000"}'):
        assert (await accept(admin, body)).status == 400

    assert json.loads((await admin.call("GET", "/api/v1/store")).body)["regressed"] is True
