"""A caller that has hung up is found so before anything is taken from others, also where nobody has read it yet."""

import contextlib
import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.proxy.hung_up import has_hung_up
from tests.raw import request
from tests.stack import stack


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


def hang_up_at_once(port: int, body: bytes, *, resets: bool) -> None:
    """In one turn of the gateway's loop: when it goes on, the call and the end of its connection are there together."""
    caller = socket.create_connection(("127.0.0.1", port))
    caller.sendall(request("POST", "/-/fence/leases", body=body))
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
            hang_up_at_once(gate.port, json.dumps(asked).encode(), resets=resets)
            assert await gate.highest("report/7") == before

        assert (await gate.write("/reports/7")).decision == "forwarded"
