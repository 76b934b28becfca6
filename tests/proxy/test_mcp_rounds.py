"""Calls that go on with what their server asked for, calls under odd ids, and answers under another's id."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.notes import POLICY, call, post, whole
from tests.raw import RawAnswer
from tests.recording import Seen
from tests.stack import Stack, stack

ASKS: dict[str, Any] = {"resultType": "input_required", "requestState": "s1", "inputRequests": {"ok": {}}}
DONE: dict[str, Any] = {"content": []}
WENT_ON = {"requestState": "s1", "inputResponses": {"ok": {"action": "accept"}}}


async def rounds(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """It asks once, and is done once it has been told."""
    asked = json.loads(seen.body)
    result = DONE if "requestState" in asked["params"] else ASKS
    writer.write(whole(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()))


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY.replace("total: 5s", "total: 1s")) as gate:
        await gate.lease("note/7")
        yield gate


async def asked(gate: Stack, body: bytes) -> RawAnswer:
    return await post(gate, body, f"Fencing-Token: {gate.tokens['agent-a']}")


def with_more(more: dict[str, Any], id: int = 8) -> bytes:
    message = json.loads(call(key="k", id=str(id)))
    message["params"] |= more
    return json.dumps(message).encode()


async def test_each_round_of_a_call_is_done_once(gate: Stack) -> None:
    """The first is not run again by who repeats it bare, whatever has come behind it; nor is the second."""
    gate.upstream.answer = rounds
    told = [await asked(gate, body) for body in (call(key="k"), with_more(WENT_ON), call(key="k"), with_more(WENT_ON))]

    assert [answer.decision for answer in told] == ["forwarded", "forwarded", "replayed", "replayed"]
    assert [json.loads(answer.body)["result"] for answer in told] == [ASKS, DONE, ASKS, DONE]
    assert [answer.value("Fencing-Outcome") for answer in told[:2]] == ["applied", "applied"]
    assert len(gate.upstream.seen) == 2


@pytest.mark.parametrize(
    ("first", "second", "again"),
    [
        (WENT_ON, WENT_ON | {"inputResponses": {"ok": {"action": "decline"}}}, "replayed"),
        (WENT_ON, {"requestState": "s1"}, "replayed"),
        (WENT_ON, WENT_ON | {"requestState": "s2"}, "forwarded"),
        ({"inputResponses": {"ok": 1}}, {"inputResponses": {"ok": 2}}, "replayed"),
        ({"inputResponses": {"ok": 1}}, {"inputResponses": {"other": 1}}, "forwarded"),
    ],
    ids=["other words", "no words", "another question", "other words alone", "another question alone"],
)
async def test_a_round_is_told_by_what_its_server_asked(
    gate: Stack, first: dict[str, Any], second: dict[str, Any], again: str
) -> None:
    """Whose user or model words the answer anew has not made another round of it: it would be done twice."""
    gate.upstream.answer = rounds
    told = [await asked(gate, with_more(one)) for one in (first, second)]

    assert [answer.decision for answer in told] == ["forwarded", again]


@pytest.mark.parametrize(
    "more",
    [
        {"arguments": {"note": 7, "text": "other"}},
        {"_meta": {"key": "k", "example.com/account": "other"}},
        {"arguments": {"note": 7, "inputResponses": {}}},
    ],
    ids=["other arguments", "another account", "what was asked for as an argument"],
)
async def test_another_action_is_no_repeat_in_any_round(gate: Stack, more: dict[str, Any]) -> None:
    """Of the first, and of the one that went on."""
    gate.upstream.answer = rounds
    before = [await asked(gate, body) for body in (call(key="k"), with_more(WENT_ON))]
    told = [await asked(gate, with_more(one | more)) for one in ({}, WENT_ON)]

    assert [answer.decision for answer in (*before, *told)] == ["forwarded"] * 2 + ["intent-mismatch"] * 2
    assert len(gate.upstream.seen) == 2


@pytest.mark.parametrize(
    "id", ["1.0", "1e0", "1.5", "-0", "-0.0", "9007199254740993", "18446744073709551617", '"07"', '" 7"', '""']
)
async def test_an_odd_id_is_its_callers_again(gate: Stack, id: str) -> None:
    """The server knows the call by one that the gateway made, a text; the answer has the caller's, in its spelling."""
    gate.upstream.answer = rounds
    told = await asked(gate, call(key="k", id=id))
    again = await asked(gate, call(key="k", id="77"))
    own = json.loads(gate.upstream.seen[0].body)["id"]

    assert (told.decision, told.value("Fencing-Outcome"), again.decision) == ("forwarded", "applied", "replayed")
    assert re.search(rb'"id": *' + re.escape(id.encode()) + b",", told.body)
    assert (json.loads(again.body)["id"], len(gate.upstream.seen)) == (77, 1)
    assert isinstance(own, str) and len(own) > 32


@pytest.mark.parametrize("spelled", ["7", '"7"', "7.0", "null"])
@pytest.mark.parametrize("said", ['"result": {}', '"error": {"code": -32602, "message": "x"}'], ids=["result", "error"])
async def test_an_answer_under_its_callers_own_id_is_nobodys(gate: Stack, spelled: str, said: str) -> None:
    """Whoever knows that could have it answered by another call of its own: the key stays held."""

    async def answer(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(f'{{"jsonrpc": "2.0", "id": {spelled}, {said}}}'.encode()))

    gate.upstream.answer = answer
    first = await asked(gate, call(key="k"))
    second = await asked(gate, call(key="k"))

    assert first.value("Fencing-Outcome") not in ("applied", "not_applied")
    assert second.decision in ("intent-in-progress", "outcome-unknown")
    assert len(gate.upstream.seen) == 1
