"""Who approves, and what an approver sees, where there are principals."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.rights import EVERYTHING
from gateway.policy.principals import Principals
from tests.admin.conftest import Admin, listening
from tests.admin.test_approvals import ID, ONE, name_of, post
from tests.raw import RawAnswer, RawClient
from tests.store.fences import state_of
from tests.store.parked import POLICY as PARKED
from tests.store.parked import parked
from tests.until import until

TOKEN = "0123456789abcdef"
ANNA, BEN, CARL = "key-of-anna-0123456789", "key-of-ben-0123456789", "key-of-carl-0123456789"
DORA, EVE = "key-of-dora-0123456789", "key-of-eve-0123456789"
PRINCIPALS = """
principals:
  - {name: anna, key: "${file:KEYS/anna}", resources: "**", approve: true}
  - {name: ben, key: "${file:KEYS/ben}", resources: "**"}
  - {name: carl, key: "${file:KEYS/carl}", resources: "invoice/*", approve: true}
  - {name: dora, key: "${file:KEYS/dora}", tenant: other, resources: "**", approve: true}
  - {name: eve, key: "${file:KEYS/eve}", resources: [], approve: [report/*]}
"""


def key(text: str) -> str:
    return f"Fencegate-Key: {text}"


@pytest.fixture
async def guarded(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """A listener with a token, and principals of which some may approve."""
    for name, text in (("anna", ANNA), ("ben", BEN), ("carl", CARL), ("dora", DORA), ("eve", EVE)):
        (tmp_path / name).write_text(text)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS.replace("KEYS", str(tmp_path)))
    async with listening(store_url, tmp_path, token=TOKEN, policy=PARKED) as admin:
        yield admin


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ((), "unauthenticated"),
        ((f"Authorization: Bearer {TOKEN}",), "unauthenticated"),
        ((key("no-key-of-anybody-01"),), "unauthenticated"),
        ((key(BEN),), "unauthenticated"),
        ((f"Authorization: Bearer {TOKEN}", key(BEN)), "forbidden"),
        ((f"Authorization: Bearer {TOKEN}", key(CARL)), "forbidden"),
        ((key(CARL),), "forbidden"),
        ((key(DORA),), "forbidden"),
        ((f"Authorization: Bearer {TOKEN}", key(DORA)), "forbidden"),
        ((key(ANNA), key(ANNA)), "unauthenticated"),
        ((f"Authorization: Bearer {TOKEN}", key(ANNA), key(BEN)), "header-malformed"),
        ((key(ANNA),), "queued"),
        ((key(EVE),), "queued"),
        ((f"Authorization: Bearer {TOKEN}", key(ANNA)), "queued"),
    ],
)
async def test_with_principals_an_approver_decides(fields: tuple[str, ...], told: str, guarded: Admin) -> None:
    """By its own key, with or without the admin token, and for the resources of its entry."""
    await parked(guarded.store, replace(ONE, principal="ben"))

    assert name_of(await post(guarded, "approve", *fields)) == told
    assert await state_of(guarded.store, ID) == ("queued" if told == "queued" else "awaiting_approval")


async def test_nobody_approves_while_nobody_can_tell_who_may(guarded: Admin) -> None:
    """The key may have been withdrawn."""
    await parked(guarded.store, replace(ONE, principal="ben"))
    guarded.policies_are_known = False

    answer = await post(guarded, "approve", f"Authorization: Bearer {TOKEN}", key(ANNA))

    assert (answer.status, name_of(answer)) == (503, "policies-unavailable")
    assert await state_of(guarded.store, ID) == "awaiting_approval"


class Known:
    """Whether the policies are known, as a truth that changes; and how often somebody asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_known = True

    def __bool__(self) -> bool:
        self.asked += 1
        return self.is_known


async def slowly(
    verdict: str, guarded: Admin, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Known], None]
) -> RawAnswer:
    """Anna's word, whose body comes when something has happened."""
    record = await guarded.store.recall(ID)
    assert record is not None and record.parking is not None
    body = json.dumps({"note": "looks right", "digest": record.parking.digest}).encode()
    head = [f"POST /api/v1/intents/{ID}/{verdict} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    head += [f"Authorization: Bearer {TOKEN}", key(ANNA), f"Content-Length: {len(body)}", "", ""]
    known = Known()
    monkeypatch.setattr(guarded, "policies_are_known", known)

    async with RawClient(guarded.port) as client:
        await client.send("\r\n".join(head).encode() + body[:1])
        await until(lambda: known.asked > 0)
        meanwhile(known)
        await client.send(body[1:])
        return await client.answer("POST")


@pytest.mark.parametrize("verdict", ["approve", "deny"])
async def test_a_right_that_ends_while_the_body_comes_decides_nothing(
    verdict: str, guarded: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However slowly that comes: what counts is the moment in which it would be decided."""
    await parked(guarded.store, replace(ONE, principal="ben"))

    def nobody_looks(known: Known) -> None:
        known.is_known = False

    answer = await slowly(verdict, guarded, monkeypatch, nobody_looks)

    assert (answer.status, name_of(answer)) == (503, "policies-unavailable")
    assert await state_of(guarded.store, ID) == "awaiting_approval"


@pytest.mark.parametrize("verdict", ["approve", "deny"])
async def test_a_key_that_becomes_anothers_while_the_body_comes_decides_nothing(
    verdict: str, guarded: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither under its former name, nor for the one who has it now: that may be who made the request."""
    await parked(guarded.store, replace(ONE, principal="ben"))
    ben = Caller("ben", rights=replace(EVERYTHING, approve=True))

    def handed_over(_: Known) -> None:
        monkeypatch.setattr(Principals, "identify", lambda *_: ben)

    answer = await slowly(verdict, guarded, monkeypatch, handed_over)

    assert (answer.status, name_of(answer)) == (401, "unauthenticated")
    assert await state_of(guarded.store, ID) == "awaiting_approval"


async def test_nobody_approves_their_own_request(guarded: Admin) -> None:
    """An approver that made it has to ask another one."""
    await parked(guarded.store, replace(ONE, principal="anna"))

    answer = await post(guarded, "approve", key(ANNA))

    assert (answer.status, name_of(answer)) == (403, "forbidden")


async def test_an_approver_sees_what_it_may_approve_and_nothing_else(guarded: Admin) -> None:
    """Without the admin token; with it everything, as ever."""
    await parked(guarded.store, ONE)
    seen = {}
    for name, who in (("anna", ANNA), ("ben", BEN), ("carl", CARL), ("dora", DORA), ("eve", EVE)):
        answer = await guarded.call("GET", "/api/v1/intents?state=awaiting_approval", key(who))
        one = await guarded.call("GET", f"/api/v1/intents/{ID}", key(who))
        body = await guarded.call("GET", f"/api/v1/intents/{ID}/body", key(who))
        seen[name] = (answer.status, len(json.loads(answer.body).get("items", ())), one.status, body.status)
    others = [
        await guarded.call(method, target, key(ANNA))
        for method, target in (
            ("GET", "/api/v1/intents"), ("GET", "/api/v1/resources"), ("POST", "/api/v1/policies/reload"),
            ("POST", f"/api/v1/intents/{ID}/retry"), ("POST", f"/api/v1/intents/{ID}/resolve"),
        )
    ]  # fmt: skip

    assert seen == {
        "anna": (200, 1, 200, 200),
        "ben": (401, 0, 401, 401),
        "carl": (200, 0, 403, 403),
        "dora": (200, 0, 403, 403),
        "eve": (200, 1, 200, 200),
    }
    assert [answer.status for answer in others] == [403, 401, 401, 401, 401]
