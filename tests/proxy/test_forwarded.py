"""Whom a request was sent for: what an agent says of it goes no further, what a trusted proxy says does."""

import json
import re
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import Seen
from tests.stack import POLICY, stack

THIS_MACHINE = ("127.0.0.0/8",)
CLAIMS = (
    "X-Forwarded-For: 192.0.2.1",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: shop.example",
    "X-Forwarded-User: root",
    "Forwarded: for=192.0.2.1;proto=https",
    "X-Real-IP: 192.0.2.1",
)
RESPELLED = ("X_Forwarded_For: 192.0.2.66", "X_REAL_IP: 192.0.2.66", "x.forwarded-user: root", "X~Real.IP: 192.0.2.66")
_ODD = re.compile("[_.~]")


def way(seen: Seen) -> list[str]:
    """The field lines that say where the request came from."""
    lines = seen.head.decode("latin-1").split("\r\n")[1:]
    return [line for line in lines if _ODD.sub("-", line.lower()).startswith(("x-forw", "forw", "x-real", "via"))]


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_an_agent_cannot_claim_another_address(store_url: str, tmp_path: Path, method: str) -> None:
    """Nothing that a server may take for the client's address or name reaches it, in whatever spelling."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7", *CLAIMS, *RESPELLED, method=method)

        assert answer.status == 200
        assert way(gate.upstream.seen[0]) == []


async def test_a_trusted_proxy_s_word_passes(store_url: str, tmp_path: Path) -> None:
    """As it came; but for other spellings of a name, which such a proxy lets through from its own clients."""
    async with stack(store_url, tmp_path, trusted_proxies=THIS_MACHINE) as gate:
        await ask(gate.port, "GET", "/reports/7", *CLAIMS, *RESPELLED)

        assert way(gate.upstream.seen[0]) == list(CLAIMS)


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("x-forwarded", ["X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: http", "X-Forwarded-Host: localhost"]),
        ("rfc7239", ["Forwarded: for=127.0.0.1;proto=http;host=localhost"]),
    ],
)
async def test_an_upstream_is_told_the_agent_s_address(
    store_url: str, tmp_path: Path, form: str, told: list[str]
) -> None:
    """In the form that its policy names, on reads and writes; no Connection line takes it away."""
    async with stack(store_url, tmp_path, f"{POLICY}forwarded: {form}\n") as gate:
        await gate.lease("report/7")
        hidden = "Connection: X-Forwarded-For, Forwarded"
        await gate.write("/reports/7", *CLAIMS, hidden)
        await ask(gate.port, "GET", "/reports/7", *CLAIMS, *RESPELLED)

        assert [way(seen) for seen in gate.upstream.seen] == [told, told]


@pytest.mark.parametrize(
    ("form", "told"),
    [
        (
            "x-forwarded",
            [
                "X-Forwarded-User: root",
                "X-Real-IP: 192.0.2.1",
                "X-Forwarded-For: 192.0.2.1, 127.0.0.1",
                "X-Forwarded-Proto: https",
                "X-Forwarded-Host: shop.example",
            ],
        ),
        (
            "rfc7239",
            [
                "X-Forwarded-User: root",
                "X-Real-IP: 192.0.2.1",
                "Forwarded: for=192.0.2.1;proto=https, for=127.0.0.1;proto=http;host=localhost",
            ],
        ),
    ],
)
async def test_a_trusted_proxy_is_added_to_what_it_said(
    store_url: str, tmp_path: Path, form: str, told: list[str]
) -> None:
    """One form is sent on, continued with the proxy itself."""
    async with stack(store_url, tmp_path, f"{POLICY}forwarded: {form}\n", trusted_proxies=THIS_MACHINE) as gate:
        await ask(gate.port, "GET", "/reports/7", *CLAIMS)

        assert way(gate.upstream.seen[0]) == told


async def test_via_names_the_gateway_where_it_is_asked_to(store_url: str, tmp_path: Path) -> None:
    """Behind the hops that the request names, with the version that the caller spoke; else Via passes as it came."""
    async with stack(store_url, tmp_path, POLICY + "via: fencegate\n") as gate:
        await ask(gate.port, "GET", "/reports/7", "Via: 1.0 edge")
        async with RawClient(gate.port) as client:
            await client.send(request("GET", "/reports/7").replace(b"HTTP/1.1", b"HTTP/1.0"))
            await client.answer("GET")
        assert [way(seen) for seen in gate.upstream.seen] == [
            ["Via: 1.0 edge", "Via: 1.1 fencegate"],
            ["Via: 1.0 fencegate"],
        ]

    async with stack(store_url, tmp_path) as gate:
        await ask(gate.port, "GET", "/reports/7", "Via: 1.0 edge")
        assert way(gate.upstream.seen[0]) == ["Via: 1.0 edge"]


@pytest.mark.parametrize(
    ("trusted", "client"), [((), "127.0.0.1"), (THIS_MACHINE, "192.0.2.1")], ids=["an agent", "a trusted proxy"]
)
async def test_the_log_names_the_client(store_url: str, tmp_path: Path, trusted: tuple[str, ...], client: str) -> None:
    """The peer, or whom a trusted proxy speaks for; of what is no HTTP the peer."""
    async with stack(store_url, tmp_path, trusted_proxies=trusted) as gate:
        await ask(gate.port, "GET", "/reports/7", "X-Forwarded-For: 198.51.100.1, 192.0.2.1")
        async with RawClient(gate.port) as raw:
            await raw.send(b"nonsense\r\n\r\n")
            await raw.answer()

        lines = [json.loads(line) for line in gate.log.read_text().splitlines()]
        assert [line["client"] for line in lines] == [client, "127.0.0.1"]
