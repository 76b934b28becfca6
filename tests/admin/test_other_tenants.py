"""An approver of one tenant at the operators' listener: nothing of another tenant is shown to it, nor done by it."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.admin.auth import OPEN_PATHS
from gateway.admin.call import Call
from gateway.admin.calls import CALLS
from gateway.core.write import ResourceKey
from gateway.store.keys import intent_id
from tests.admin.conftest import Admin, listening
from tests.admin.test_approvals import ID, ONE, name_of, post
from tests.raw import RawAnswer
from tests.store.fences import ANSWER, DIGEST, bare, ended, keyed, state_of
from tests.store.parked import POLICY, REQUEST, parked

TOKEN = "Authorization: Bearer 0123456789abcdef"
# In all that belongs to the other tenant: names, keys, bodies, answers.
MARK = "of-north"
APPLIED = ResourceKey(f"report/{MARK}")
PRINCIPALS = """
principals:
  - {name: sue, key: "${file:KEYS/sue}", tenant: south, resources: "**", takeover: true, approve: true}
  - {name: sam, key: "${file:KEYS/sam}", resources: "**", takeover: true}
"""
KEYS = {"sue": "key-of-sue-0123456789", "sam": "key-of-sam-0123456789"}
SUE, SAM = (f"Fencegate-Key: {key}" for key in KEYS.values())
READS = [call for call in CALLS if call.method == "GET" and call.path not in OPEN_PATHS]
ACTS = [call for call in CALLS if call.method != "GET"]


@pytest.fixture
async def admin(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """One write of the tenant `default` waits for an approval, and one was applied."""
    for name, key in KEYS.items():
        (tmp_path / name).write_text(key)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS.replace("KEYS", str(tmp_path)))
    async with listening(store_url, tmp_path, token=TOKEN.rpartition(" ")[2], policy=POLICY) as admin:
        assert ONE.intent is not None
        waiting = replace(ONE, holder=f"a-{MARK}", principal=f"nora-{MARK}", intent=replace(ONE.intent, key=MARK))
        await parked(admin.store, waiting, replace(REQUEST, body=MARK.encode()))
        applied = replace(keyed(bare(42, f"a-{MARK}")), resource=APPLIED)
        await ended(admin.store, applied, "applied", replace(ANSWER, body=MARK.encode()))
        yield admin


def targets(call: Call) -> list[str]:
    """The call for each of the two; of a list also the part that an approver may ask for."""
    if "{resource}" in call.path:
        return [call.path.replace("{resource}", name) for name in ("report/7", APPLIED)]
    if "{id}" in call.path:
        return [call.path.replace("{id}", id) for id in (ID, intent_id(APPLIED, DIGEST))]
    return [call.path, f"{call.path}?state=awaiting_approval"] if call.for_approvers else [call.path]


def shows(answer: RawAnswer) -> bool:
    return MARK in str(answer.fields) or MARK.encode() in answer.body


@pytest.mark.parametrize("call", READS, ids=[call.path for call in READS])
async def test_an_approvers_key_shows_nothing_of_another_tenant(call: Call, admin: Admin) -> None:
    """Whatever the call; what it may see at all has no items."""
    for target in targets(call):
        answer = await admin.call("GET", target, SUE)

        assert not shows(answer)
        if target.endswith("?state=awaiting_approval"):
            assert (answer.status, json.loads(answer.body)["items"]) == (200, [])
        else:
            assert answer.status == (403 if call.for_approvers else 401)


async def test_the_admin_token_shows_what_is_kept_from_the_approver(admin: Admin) -> None:
    """In lists, records, requests and answers: they are there to be seen."""
    seen = {call.path for call in READS for target in targets(call) if shows(await admin.call("GET", target, TOKEN))}

    assert seen >= {f"/api/v1/{one}" for one in ("intents", "intents/{id}", "intents/{id}/body", "resources", "audit")}


@pytest.mark.parametrize("call", ACTS, ids=[f"{call.method} {call.path}" for call in ACTS])
async def test_an_approvers_key_does_nothing_of_another_tenant(call: Call, admin: Admin) -> None:
    """It decides about its own tenant's, and everything else wants the admin token."""
    record = await admin.store.recall(ID)
    assert record is not None and record.parking is not None
    document = {"note": "x", "digest": record.parking.digest} if call.for_approvers else {}
    answers = [
        await admin.call(call.method, target, SUE, body=json.dumps(document).encode())
        for target in targets(call)
        if not call.for_approvers or ID in target
    ]

    assert {answer.status for answer in answers} == {403 if call.for_approvers else 401}
    assert not any(shows(answer) for answer in answers)
    assert await state_of(admin.store, ID) == "awaiting_approval"


@pytest.mark.parametrize("verdict", ["approve", "deny"])
@pytest.mark.parametrize("who", [SUE, SAM], ids=["of another tenant", "who may not approve"])
async def test_the_admin_token_adds_no_right_to_a_principals(who: str, verdict: str, admin: Admin) -> None:
    """Whoever says who it is decides as that one, or not at all."""
    answer = await post(admin, verdict, TOKEN, who)

    assert (answer.status, name_of(answer)) == (403, "forbidden")
    assert await state_of(admin.store, ID) == "awaiting_approval"
