"""One key of MCP calls, under many ids at once or one after the other: one execution, and each answer is its call's."""

import asyncio
import json
from pathlib import Path

from tests.proxy.notes import POLICY, call, post, whole
from tests.raw import RawAnswer
from tests.recording import RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.until import until

QUEUED = POLICY.replace("mode: optional, key", "mode: required, key").replace(
    "    resource: note/{{json:/params/arguments/note}}\n",
    "    resource: note/{{json:/params/arguments/note}}\n    delivery: queued\n",
)
IDS = ("3", '"id3"', "3.5")


async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """A result under the id that came."""
    id = json.dumps(json.loads(seen.body)["id"]).encode()
    writer.write(whole(b'{"jsonrpc": "2.0", "id": %b, "result": {"content": []}}' % id))


async def test_each_of_many_calls_of_one_key_is_answered_under_its_own_id(store_url: str, tmp_path: Path) -> None:
    """Sixteen at once, whether they are told to wait or given the result; the tool runs once."""
    go_on = asyncio.Event()

    async def held(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        await answer(seen, writer)

    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(held)) as gate:
        await gate.lease("note/7")
        ids = [IDS[at % 3] for at in range(16)]
        calls = [asyncio.ensure_future(ask(gate, id)) for id in ids]
        await until(lambda: sum(each.done() for each in calls) >= 8)
        go_on.set()
        told = await asyncio.gather(*calls)
        again = [await ask(gate, id) for id in IDS]

        decisions = [each.decision for each in told]
        assert decisions.count("forwarded") == 1
        assert set(decisions) <= {"forwarded", "intent-in-progress", "replayed"}
        assert [each.decision for each in again] == ["replayed"] * 3
        assert [id_of(each) for each in (*told, *again)] == [*ids, *IDS]
        assert len(gate.upstream.seen) == 1


async def test_a_queued_call_is_not_run_again_for_a_successor(store_url: str, tmp_path: Path) -> None:
    """Whose repeat has another id and comes in another session: it gets the result of the delivery, under its id."""
    async with stack(store_url, tmp_path, QUEUED, RecordingUpstream(answer)) as gate:
        await gate.lease("note/7", "a")
        taken = await ask(gate, "1", "a", "Mcp-Session-Id: session-a")
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        await gate.lease("note/7", "b", takeover=True)
        told: list[RawAnswer] = []

        async def is_answered() -> bool:
            told[:] = [await ask(gate, '"zz"', "b", "Mcp-Session-Id: session-b")]
            return told[0].decision == "replayed"

        await until(is_answered)

        assert (taken.decision, id_of(taken)) == ("queued", "1")
        assert json.loads(told[0].body) == {"jsonrpc": "2.0", "id": "zz", "result": {"content": []}}
        assert [seen.values("Mcp-Session-Id") for seen in gate.upstream.seen] == [["session-a"]]


async def ask(gate: Stack, id: str, holder: str = "agent-a", *fields: str) -> RawAnswer:
    return await post(gate, call(id=id, key="k"), f"Fencing-Token: {gate.tokens[holder]}", *fields)


def id_of(answer: RawAnswer) -> str:
    """As it is spelled: `3` is not `"3"`."""
    return json.dumps(json.loads(answer.body)["id"])
