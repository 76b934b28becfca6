"""WebSocket sessions whose agents lose their right: what a write of theirs would be refused with ends them too."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.issuer import P256, RSA, Issuer, PrivateKey, jwk, jwks, pem
from tests.proxy.reloading import Reloading, principal, reloading
from tests.proxy.rooms import LIVE, ROOM, logged
from tests.raw import ask
from tests.recording import RecordingUpstream, answering
from tests.sessions import POLICY, Agent, SessionUpstream, cut, frame
from tests.until import until

SIGNED = POLICY + "defaults: {{authority: {{signed: {{keys: {keys}, algorithms: [ES256, RS256]}}}}}}\n"


@pytest.fixture(autouse=True)
def extended_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.flow.session._EXTEND_EVERY_S", 0.05)
    monkeypatch.setattr("gateway.flow.session._CLOSE_WITHIN_S", 0.05)
    monkeypatch.setattr("gateway.claims.keyfile._LOOK_EVERY_S", 0.0)


@contextlib.asynccontextmanager
async def adas_session(
    store_url: str, directory: Path, *lines: str
) -> AsyncIterator[tuple[Reloading, Agent, SessionUpstream]]:
    """A session under a lease, begun with ada's key where there are principals."""
    async with (
        SessionUpstream() as upstream,
        reloading(store_url, directory, POLICY.format(port=upstream.port), *lines) as gate,
        Agent(gate.port) as agent,
    ):
        key, asked = "Fencegate-Key: ada", json.dumps({"resource": ROOM, "holder": "a", "ttl_s": 3600})
        granted = await ask(gate.port, "POST", "/-/fence/leases", key, body=asked.encode())
        opened = await agent.open(LIVE, json.loads(granted.body)["token"], key)
        assert opened.status == 101
        yield gate, agent, upstream


LOST = {
    "its principal is gone": ((principal("bob"),), "unauthenticated"),
    "its key is withdrawn": ((principal("ada", key="another"), principal("bob")), "unauthenticated"),
    "of two keys its own is withdrawn": ((principal("ada", key="another third"),), "unauthenticated"),
    "its principal has another name": ((principal("eve", key="ada"),), "unauthenticated"),
    "its principal is of another tenant": ((principal("ada", tenant="south"),), "unauthenticated"),
    "its principal has lost the resource": ((principal("ada", resources='["hall/*"]'),), "forbidden"),
}


@pytest.mark.parametrize(("lines", "reason"), LOST.values(), ids=LOST.keys())
async def test_a_session_ends_with_its_agents_right(
    lines: tuple[str, ...], reason: str, store_url: str, tmp_path: Path
) -> None:
    """With 1008 and what a write would be refused with, at the next extension; its lease may last for an hour."""
    async with adas_session(store_url, tmp_path, principal("ada")) as (gate, agent, upstream):
        gate.principals(*lines)

        assert await agent.rest() == cut(1008, reason)
        await upstream.until(lambda: upstream.order[-1] == "reset")
        await until(lambda: bool(logged(gate.log)))

    assert logged(gate.log)[0]["why"] == f"cut: {reason}"


@pytest.mark.parametrize("lines", [(), (principal("ada"),)], ids=["anybody's", "a principal's"])
async def test_a_session_ends_when_nobody_can_tell_the_policies(
    lines: tuple[str, ...], store_url: str, tmp_path: Path
) -> None:
    """With 1013: it may begin anew soon."""
    async with adas_session(store_url, tmp_path, *lines) as (gate, agent, _upstream):
        gate.fall_silent()

        assert await agent.rest() == cut(1013, "policies-unavailable")


async def test_a_session_of_anybody_ends_when_there_are_principals(store_url: str, tmp_path: Path) -> None:
    """Its agent has shown no key."""
    async with adas_session(store_url, tmp_path) as (gate, agent, _upstream):
        gate.principals(principal("bob"))

        assert await agent.rest() == cut(1008, "unauthenticated")


async def test_a_session_outlives_what_changes_for_others(store_url: str, tmp_path: Path) -> None:
    """Another principal goes, more come, its principal's other key is withdrawn, and the session's own rule is renamed
    or gone: that counts for new ones."""
    two = principal("ada", key="ada another"), principal("bob")
    async with adas_session(store_url, tmp_path, *two) as (gate, agent, upstream):
        gate.principals(principal("ada", resources='["room/7"]'), principal("cyd"))
        gate.policy(POLICY.format(port=upstream.port).replace("room/{path.id}", "suite/{path.id}"))
        gate.policy(POLICY.format(port=upstream.port).replace("name: live", "name: talk"))
        for _ in range(3):
            heard = len(upstream.received)
            await agent.send(frame(b"still here"))
            await upstream.until(lambda heard=heard: len(upstream.received) > heard)


@contextlib.asynccontextmanager
async def claimed_session(
    store_url: str, directory: Path, keys: str, signer: PrivateKey = P256
) -> AsyncIterator[tuple[Reloading, Agent, SessionUpstream]]:
    """A session under a signed claim of an hour."""
    async with (
        SessionUpstream() as upstream,
        reloading(store_url, directory, SIGNED.format(port=upstream.port, keys=keys)) as gate,
        Agent(gate.port) as agent,
    ):
        issuer = Issuer(signer, "ES256" if signer is P256 else "RS256", ROOM)
        opened = await agent.open(LIVE, issuer.claim(exp=4_000_000_000))
        assert opened.status == 101, opened
        yield gate, agent, upstream


async def test_a_session_ends_when_the_key_of_its_claim_is_withdrawn(store_url: str, tmp_path: Path) -> None:
    """The file holds another one; nothing was reloaded."""
    file = tmp_path / "keys.pem"
    file.write_bytes(pem(P256))
    async with claimed_session(store_url, tmp_path, f"{{file: {file}}}") as (_gate, agent, _upstream):
        file.write_bytes(pem(RSA))

        assert await agent.rest() == cut(1008, "token-invalid")


async def test_a_session_ends_when_its_rule_trusts_other_keys(store_url: str, tmp_path: Path) -> None:
    """As a reloaded policy says: who signed it may be why the policy has changed."""
    file, other = tmp_path / "keys.pem", tmp_path / "other.pem"
    file.write_bytes(pem(P256))
    other.write_bytes(pem(RSA))
    async with claimed_session(store_url, tmp_path, f"{{file: {file}}}") as (gate, agent, upstream):
        gate.policy(SIGNED.format(port=upstream.port, keys=f"{{file: {other}}}"))

        assert await agent.rest() == cut(1008, "token-invalid")


async def test_a_session_outlives_a_key_file_that_is_gone(store_url: str, tmp_path: Path) -> None:
    """The last keys stay, as they do for writes; a key that came beside its own changes nothing either."""
    file = tmp_path / "keys.pem"
    file.write_bytes(pem(P256))
    async with claimed_session(store_url, tmp_path, f"{{file: {file}}}") as (_gate, agent, upstream):
        file.write_bytes(pem(RSA) + pem(P256))
        await agent.send(frame(b"one"))
        await upstream.until(lambda: len(upstream.received) == 9)
        file.unlink()
        for number in range(3):
            await agent.send(frame(b"two"))
            await upstream.until(lambda number=number: len(upstream.received) == 18 + 9 * number)


async def test_a_session_whose_issuer_trusts_no_key_any_more_is_to_try_again(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1013, for there may be keys again soon; a write would be told to come back, too."""
    monkeypatch.setattr("gateway.claims.keyurl._STALE_AFTER_S", 0.0)
    monkeypatch.setattr("gateway.claims.keyurl._AWAY_FOR_S", 0.0)
    monkeypatch.setattr("gateway.claims.keyurl._FIRST_EVERY_S", 0.0)

    def served(content: bytes) -> bytes:
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(content), content)

    async with RecordingUpstream(answering(served(jwks(jwk(P256))))) as keys:
        url = f"{{jwks: 'http://127.0.0.1:{keys.port}/keys'}}"
        async with claimed_session(store_url, tmp_path, url) as (_gate, agent, _upstream):
            keys.answer = answering(served(jwks()))

            assert await agent.rest() == cut(1013, "keys-unavailable")
