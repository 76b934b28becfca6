"""A caller that has hung up is found so before anything is taken from others, also where nobody has read it yet."""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.proxy.hung_up import has_hung_up
from tests.raw import RawClient, request
from tests.stack import POLICY, stack
from tests.until import until


@contextlib.contextmanager
def connected() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        caller = socket.create_connection(listening.getsockname())
        ours, _ = listening.accept()
    with caller, ours:
        yield caller, ours


def reset(caller: socket.socket) -> None:
    caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    caller.close()


@pytest.mark.parametrize("unread", [b"", b"a request"], ids=["all was read", "behind unread bytes"])
def test_an_end_is_seen_before_it_is_read(unread: bytes) -> None:
    """Closed or reset; an open connection is not gone, whatever has come on it."""
    for end in (socket.socket.close, reset):
        with connected() as (caller, ours):
            caller.sendall(unread)
            assert not has_hung_up(ours)
            end(caller)
            assert has_hung_up(ours)
            ours.close()
            assert has_hung_up(ours)


def hang_up_at_once(port: int, call: bytes, *, resets: bool = False) -> None:
    """In one turn of the gateway's loop: when it goes on, the call and the end of its connection are there together."""
    caller = socket.create_connection(("127.0.0.1", port))
    caller.sendall(call)
    if resets:
        reset(caller)
    else:
        caller.close()


@pytest.mark.parametrize("resets", [False, True], ids=["closed", "reset"])
async def test_a_caller_that_hung_up_in_a_pause_takes_nothing_over(
    store_url: str, tmp_path: Path, resets: bool
) -> None:
    """The holder goes on under its epoch."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        asked = {"resource": "report/7", "holder": "b", "ttl_s": 60, "takeover": True}
        for _ in range(5):
            call = request("POST", "/-/fence/leases", body=json.dumps(asked).encode())
            hang_up_at_once(gate.port, call, resets=resets)
            assert await gate.highest("report/7") == before

        assert (await gate.write("/reports/7")).decision == "forwarded"


@pytest.mark.parametrize("resets", [False, True], ids=["closed", "reset"])
async def test_a_grant_under_a_key_is_had_by_its_repeat(store_url: str, tmp_path: Path, resets: bool) -> None:
    """Whether or not the first was granted before its caller hung up: the lease is there, and writes."""
    async with stack(store_url, tmp_path) as gate:
        for at in range(10):
            body = json.dumps({"resource": f"report/{at}", "holder": "agent-a", "ttl_s": 60}).encode()
            call = request("POST", "/-/fence/leases", f"Idempotency-Key: k-{at}", body=body)
            hang_up_at_once(gate.port, call, resets=resets)
            async with RawClient(gate.port) as client:
                await client.send(call)
                granted = await client.answer()
            gate.tokens["agent-a"] = json.loads(granted.body)["token"]

            assert (granted.status, (await gate.write(f"/reports/{at}")).decision) == (201, "forwarded")


async def test_an_epoch_from_elsewhere_counts_once_it_was_sent(store_url: str, tmp_path: Path) -> None:
    """Whoever still waits for the answer: it was granted before, and the older holder is told that it was overtaken."""
    policy = POLICY + "    authority: header\n"

    def write(epoch: int) -> bytes:
        return request("PUT", "/reports/7", f"Fencing-Token: {epoch}", f"Fencing-Holder: h{epoch}", body=b"%d" % epoch)

    async with stack(store_url, tmp_path, policy) as gate, RawClient(gate.port) as older, RawClient(gate.port) as newer:
        await older.send(write(41))
        before = await older.answer()
        hang_up_at_once(gate.port, write(42))
        await until(lambda: '"epoch":"42"' in gate.log.read_text())
        await older.send(write(41))
        await newer.send(write(42))
        after = [(await client.answer()).decision for client in (older, newer)]

        assert (before.decision, after) == ("forwarded", ["stale-epoch", "forwarded"])


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("call", ["a write", "a lease"])
async def test_a_caller_that_says_no_more_has_hung_up(store_url: str, tmp_path: Path, call: str, version: str) -> None:
    """Half closed is closed: nobody can tell whether an answer would be read. Nothing is sent, and nothing is taken."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        asked = json.dumps({"resource": "report/8", "holder": "b", "ttl_s": 60}).encode()
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        sent = {
            "a write": request("PUT", "/reports/7", token, body=b"{}"),
            "a lease": request("POST", "/-/fence/leases", body=asked),
        }[call]
        caller = socket.create_connection(("127.0.0.1", gate.port))
        caller.sendall(sent.replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1))
        caller.shutdown(socket.SHUT_WR)
        reader, writer = await asyncio.open_connection(sock=caller)
        told = await reader.read()
        writer.close()

        assert told == b""
        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])
        assert await gate.highest("report/8") is None
        assert (await gate.write("/reports/7")).decision == "forwarded"
