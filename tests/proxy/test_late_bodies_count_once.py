"""A write whose body begins late comes before the fence once more: whatever its rule counts, it counts once."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.views.resource_views import tickets
from tests.proxy.test_late_bodies import given_back, overtaken
from tests.proxy.test_quarantine import the_one_kept
from tests.raw import RawAnswer, RawClient, request
from tests.stack import POLICY, Stack, stack
from tests.store.fences import opened
from tests.until import until

WHOLE = b'{"text": "x"}'
FRAMINGS = {
    "with a length": (f"Content-Length: {len(WHOLE)}", b"", WHOLE),
    "in chunks": ("Transfer-Encoding: chunked", b"", b"%x\r\n%b\r\n0\r\n\r\n" % (len(WHOLE), WHOLE)),
    "behind the length of its chunk": (
        "Transfer-Encoding: chunked",
        b"%x\r\n" % len(WHOLE),
        b"%b\r\n0\r\n\r\n" % WHOLE,
    ),
}
# What the rule says, what a write says for it, and what the same write is told when it comes once more.
COUNTING = {
    "under strict": ("fence: {{order: strict}}", (), "stale-epoch"),
    "with its place": ("fence: {{sequence: contiguous}}", ("Fencing-Sequence: 1",), "out-of-sequence"),
    "with a place among parallel ones": (
        "fence: {{sequence: increasing, concurrency: parallel}}",
        ("Fencing-Sequence: 5",),
        "out-of-sequence",
    ),
    "based on a revision": ("revision: gateway", ("Fencing-If-Revision: 0",), "revision-mismatch"),
    "under a budget": ("budget: [{{per: resource, window: 1h, count: 1}}]", (), "quota-exceeded"),
    "in parallel": ("fence: {{concurrency: parallel}}", (), "forwarded"),
    "where it is observed": ("mode: observe", (), "forwarded"),
}


async def admitted(store: FenceStore) -> None:
    """By its head."""

    async def is_admitted() -> bool:
        return bool(await tickets(store, ResourceKey("report/7")))

    await until(is_admitted)


async def late(
    gate: Stack,
    store_url: str,
    framing: str,
    *fields: str,
    change: Callable[[Stack, FenceStore], Awaitable[None]] | None = None,
) -> RawAnswer:
    """A write whose body is sent once its head alone has been admitted."""
    field, begun, rest = FRAMINGS[framing]
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    async with opened(store_url) as store, RawClient(gate.port) as client:
        await client.send(request("PUT", "/reports/7", token, "Content-Type: application/json", *fields, field) + begun)
        await admitted(store)
        if change is not None:
            await change(gate, store)
        await client.send(rest)
        return await client.answer()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.upstream.sender._BEGINS_SOON_S", 0.0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize(("rule", "fields", "again"), COUNTING.values(), ids=COUNTING)
async def test_it_is_admitted_as_the_write_that_it_was(
    store_url: str, tmp_path: Path, rule: str, fields: tuple[str, ...], again: str, framing: str
) -> None:
    """It is sent once, and the next one finds it counted once."""
    async with stack(store_url, tmp_path, f"{POLICY}    {rule}\n") as gate:
        await gate.lease("report/7")
        answer = await late(gate, store_url, framing, *fields)
        second = await gate.write("/reports/7", *fields)

        assert (answer.decision, answer.value("Fencing-Outcome"), second.decision) == ("forwarded", "applied", again)
        assert [seen.body for seen in gate.upstream.seen] == [WHOLE, *[b"{}"] * (again == "forwarded")]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("framing", FRAMINGS)
async def test_what_was_overtaken_meanwhile_is_kept_whole(store_url: str, tmp_path: Path, framing: str) -> None:
    """Where its rule keeps what is late; nothing of it is sent."""
    async with stack(store_url, tmp_path, f"{POLICY}    on_stale: quarantine\n") as gate:
        await gate.lease("report/7")
        answer = await late(gate, store_url, framing, change=overtaken)
        _, kept = await the_one_kept(store_url, answer)

        assert (answer.decision, kept.body) == ("stale-epoch", WHOLE)
        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])


async def test_what_has_begun_to_come_is_sent(store_url: str, tmp_path: Path) -> None:
    """Its first byte was here with its head, so that it had begun before its lease was given back."""
    field = f"Content-Length: {len(WHOLE)}"
    async with stack(store_url, tmp_path) as gate, opened(store_url) as store, RawClient(gate.port) as client:
        await gate.lease("report/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        await client.send(request("PUT", "/reports/7", token, field) + WHOLE[:1])
        await gate.upstream.until(lambda: gate.upstream.connections == 1)
        await given_back(gate, store)
        await client.send(WHOLE[1:])

        assert (await client.answer()).decision == "forwarded"
        assert [seen.body for seen in gate.upstream.seen] == [WHOLE]


@pytest.mark.usefixtures("at_once")
async def test_a_read_behind_a_late_body_is_answered(store_url: str, tmp_path: Path) -> None:
    """In its order, on the same connection."""
    async with stack(store_url, tmp_path) as gate, RawClient(gate.port) as client, opened(store_url) as store:
        await gate.lease("report/7")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        await client.send(request("PUT", "/reports/7", token, f"Content-Length: {len(WHOLE)}"))
        await admitted(store)
        await client.send(WHOLE + request("GET", "/reports/7"))
        answers = [await client.answer(), await client.answer("GET")]

        assert [answer.decision for answer in answers] == ["forwarded", "passed"]
        assert [seen.line[:3] for seen in gate.upstream.seen] == ["PUT", "GET"]


@pytest.mark.usefixtures("at_once")
async def test_a_caller_that_leaves_before_its_body_leaves_the_next_one_nothing_to_wait_for(
    store_url: str, tmp_path: Path
) -> None:
    """No ticket is left."""
    async with stack(store_url, tmp_path) as gate, opened(store_url) as store:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", token, "Content-Length: 10"))
            await admitted(store)
        after = await gate.write("/reports/7")

        assert after.decision == "forwarded"
        assert not await tickets(store, ResourceKey("report/7"))
        assert [seen.body for seen in gate.upstream.seen] == [b"{}"]
