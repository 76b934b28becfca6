"""The agents' lease calls: who holds a resource, until when, and what an old token is still good for."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.proxy.lease_calls import ASKED, lease_call, lookup, token_of
from tests.raw import RawClient, ask, request
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import POLICY, stack
from tests.store.fences import opened
from tests.until import until


async def test_a_grant_tells_all_that_a_holder_needs(store_url: str, tmp_path: Path) -> None:
    """The epoch as digits, the token, the term and when to renew it; looked up, it is the same without the secret."""
    async with stack(store_url, tmp_path) as gate:
        granted = await gate.lease("report/7", "a")
        shown = await lookup(gate)

        lease = json.loads(granted.body)
        epoch, _, secret = lease.pop("token").partition(".")
        assert (granted.status, granted.decision) == (201, "granted")
        assert granted.value("Cache-Control") == "no-store"
        assert (lease.pop("epoch"), len(secret) >= 22) == (epoch, True)
        assert lease.pop("expires_at").endswith("Z")
        assert lease == {
            "resource": "report/7",
            "holder": "a",
            "ttl_s": 60,
            "renew_after_s": 20,
            "drained": True,
            "in_flight": 0,
        }
        members = json.loads(granted.body)
        del members["token"]
        assert (shown.status, shown.decision, json.loads(shown.body)) == (200, "shown", members)
        assert secret.encode() not in shown.body


@pytest.mark.parametrize("resource", ["%ff", "report/%ed%a0%80", "report/%ff"])
async def test_a_resource_that_is_no_text_is_refused(store_url: str, tmp_path: Path, resource: str) -> None:
    """No rule can make it, and it ends in no fault of the gateway."""
    async with stack(store_url, tmp_path) as gate:
        shown = await lookup(gate, resource)

        assert (shown.status, shown.decision, shown.problem["action"]) == (400, "bad-request", "fix-request")


@pytest.mark.parametrize("end", ["released", "expired", "taken over", "raised"])
async def test_a_dead_tokens_secret_proves_no_later_epoch(store_url: str, tmp_path: Path, raw: Any, end: str) -> None:
    """Whoever kept it and reads the epoch that rules now, which everybody may, has nothing; and the key of the dead
    lease is granted no other."""
    async with stack(store_url, tmp_path) as gate:
        key = "Idempotency-Key: worker-7"
        first = json.loads((await lease_call(gate, "leases", key, **ASKED)).body)
        token = f"Fencing-Token: {first['token']}"
        if end == "released":
            await lease_call(gate, "leases/release", token)
        elif end == "expired":
            raw.hset(resource_keys(ResourceKey("report/7"))[0], "x", 1)
        elif end == "raised":
            async with opened(store_url) as store:
                await store.advance(ResourceKey("report/7"), None, "r")
        else:
            await gate.lease("report/7", "b", takeover=True)

        late = await lease_call(gate, "leases", key, **ASKED, takeover=True)
        renamed = await lease_call(gate, "leases", "Idempotency-Key: worker-7-again", **ASKED, takeover=True)
        dead = await ask(gate.port, "PUT", "/reports/7", token, body=b"{}")
        forged = f"{dead.problem['highest_epoch']}.{first['token'].partition('.')[2]}"
        answer = await ask(gate.port, "PUT", "/reports/7", f"Fencing-Token: {forged}", body=b"{}")

        assert (late.status, late.decision, late.problem["action"]) == (409, "lease-lost", "reacquire")
        assert "new key" in str(late.problem["detail"])
        assert (renamed.status, dead.decision) == (201, "stale-epoch")
        assert (answer.status, answer.decision) == (401, "token-invalid")
        assert answer.value("WWW-Authenticate") == 'Fencing-Token realm="fencegate"'
        assert gate.upstream.seen == []


@pytest.mark.parametrize("holder", ["b", "a"])
async def test_a_held_lease_is_held_by_anyone(store_url: str, tmp_path: Path, holder: str) -> None:
    """The same name is no proof: only the live token renews."""
    async with stack(store_url, tmp_path) as gate:
        granted = await gate.lease("report/7", "a")
        refused = await lease_call(gate, "leases", holder=holder, ttl_s=60)

        assert (refused.status, refused.decision) == (409, "lease-held")
        assert (refused.problem["holder"], refused.problem["action"]) == ("a", "wait")
        assert refused.problem["expires_at"] == json.loads(granted.body)["expires_at"]
        assert refused.value("Retry-After") is not None
        assert (await gate.write("/reports/7", holder="a")).status == 200


async def test_a_takeover_ends_the_older_lease_at_once(store_url: str, tmp_path: Path) -> None:
    """Renew, release and write of the older token fail; the newer lease is untouched by them."""
    async with stack(store_url, tmp_path) as gate:
        older = await gate.lease("report/7", "a")
        gate.tokens["old a"] = gate.tokens["a"]
        newer = await gate.lease("report/7", "a", takeover=True)
        renewed = await lease_call(gate, "leases/renew", token_of(gate, "old a"))
        released = await lease_call(gate, "leases/release", token_of(gate, "old a"))
        write = await gate.write("/reports/7", holder="old a")
        shown = await lookup(gate)

        epochs = [json.loads(answer.body)["epoch"] for answer in (older, newer)]
        assert int(epochs[0]) < int(epochs[1])
        assert [(answer.status, answer.decision) for answer in (renewed, released)] == [(412, "lease-lost")] * 2
        assert renewed.problem["highest_epoch"] == epochs[1]
        assert (write.status, write.decision, gate.upstream.seen) == (412, "stale-epoch", [])
        assert json.loads(shown.body)["epoch"] == epochs[1]
        assert (await gate.write("/reports/7", holder="a")).status == 200


async def test_a_live_token_renews(store_url: str, tmp_path: Path) -> None:
    """The epoch stays, the term begins anew, and no secret is shown."""
    async with stack(store_url, tmp_path) as gate:
        granted = json.loads((await gate.lease("report/7", "a")).body)
        answer = await lease_call(gate, "leases/renew", token_of(gate))

        renewed = json.loads(answer.body)
        assert (answer.status, answer.decision) == (200, "renewed")
        assert renewed["expires_at"] >= granted["expires_at"]
        del granted["token"], granted["expires_at"], renewed["expires_at"]
        assert renewed == granted


async def test_a_released_token_is_dead_for_good(store_url: str, tmp_path: Path) -> None:
    """Released again it answers as the first time; renewing and writing fail; the lease is free."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        released = [await lease_call(gate, "leases/release", token_of(gate)) for _ in range(2)]
        renewed = await lease_call(gate, "leases/renew", token_of(gate))
        write = await gate.write("/reports/7", holder="a")
        shown = await lookup(gate)
        after = await gate.lease("report/7", "b")

        assert [(answer.status, answer.decision, answer.body) for answer in released] == [(204, "released", b"")] * 2
        assert (renewed.status, renewed.decision) == (412, "lease-lost")
        assert (write.status, write.decision) == (412, "lease-expired")
        assert (shown.status, shown.decision) == (404, "no-lease")
        assert (after.status, gate.upstream.seen) == (201, [])


async def test_an_expired_lease_neither_writes_nor_renews(store_url: str, tmp_path: Path) -> None:
    """Its term over, it never comes back; the holder has to take a new one."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a", ttl_s=1)

        async def is_over() -> bool:
            return (await lookup(gate)).status == 404

        await until(is_over)
        write = await gate.write("/reports/7", holder="a")
        renewed = await lease_call(gate, "leases/renew", token_of(gate))
        after = await gate.lease("report/7", "a")

        assert (write.status, write.decision, write.problem["action"]) == (412, "lease-expired", "reacquire")
        assert (renewed.status, renewed.decision) == (412, "lease-lost")
        assert (after.status, gate.upstream.seen) == (201, [])


@pytest.mark.parametrize("call", ["leases/renew", "leases/release"])
async def test_renew_and_release_take_the_live_token_only(store_url: str, tmp_path: Path, call: str) -> None:
    """None, a malformed one, one with another secret, one of another resource."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/8", "other")
        await gate.lease("report/7", "a")
        epoch = gate.tokens["a"].partition(".")[0]
        answers = [
            await lease_call(gate, call),
            await lease_call(gate, call, "Fencing-Token: 5"),
            await lease_call(gate, call, f"Fencing-Token: {epoch}." + "x" * 32),
            await lease_call(gate, call, "Fencing-Token: 18446744073709551615." + "x" * 32),
            await lease_call(gate, call, token_of(gate, "other")),
            await lease_call(gate, call, token_of(gate), token_of(gate)),
        ]

        assert [answer.status for answer in answers[:4]] == [428, 400, 401, 401]
        assert (answers[4].status, answers[4].decision) in ((401, "token-invalid"), (412, "lease-lost"))
        assert (answers[5].status, answers[5].decision) == (400, "token-malformed")
        assert (await gate.write("/reports/7", holder="a")).status == 200


async def test_a_grant_may_wait_for_the_lease(store_url: str, tmp_path: Path) -> None:
    """It comes with the release, and is refused when the wait is over."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        in_vain = await lease_call(gate, "leases", holder="b", ttl_s=60, wait_s=0.1)
        waiting = asyncio.ensure_future(gate.lease("report/7", "b", wait_s=30))
        await lookup(gate)
        released = await lease_call(gate, "leases/release", token_of(gate))
        granted = await waiting

        assert (in_vain.status, in_vain.decision) == (409, "lease-held")
        assert (released.status, granted.status) == (204, 201)
        assert json.loads(granted.body)["holder"] == "b"


async def test_a_takeover_may_wait_for_older_writes(store_url: str, tmp_path: Path) -> None:
    """Without a wait it says how many are in flight; with one it answers when they have ended."""
    go_on = asyncio.Event()

    async def slow(_: Seen, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        writer.write(OK)

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=slow)) as gate:
        await gate.lease("report/7", "a")
        write = asyncio.ensure_future(gate.write("/reports/7", holder="a"))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        at_once = json.loads((await gate.lease("report/7", "b", takeover=True)).body)
        waiting = asyncio.ensure_future(gate.lease("report/7", "c", takeover=True, wait_s=30))
        await lookup(gate)
        assert not waiting.done()
        go_on.set()
        drained = json.loads((await waiting).body)

        assert (at_once["drained"], at_once["in_flight"]) == (False, 1)
        assert (drained["drained"], drained["in_flight"]) == (True, 0)
        assert (await write).decision == "forwarded"


async def test_a_repeated_grant_with_a_key_is_the_same_lease(store_url: str, tmp_path: Path) -> None:
    """For one whose 201 was lost; bare or quoted it is one key. Another key, holder or none is another call."""
    async with stack(store_url, tmp_path) as gate:
        key = "Idempotency-Key: k-1"
        first = await lease_call(gate, "leases", key, holder="a", ttl_s=60)
        again = await lease_call(gate, "leases", key, holder="a", ttl_s=60)
        quoted = await lease_call(gate, "leases", 'Idempotency-Key: "k-1"', holder="a", ttl_s=60)
        others = [
            await lease_call(gate, "leases", "Idempotency-Key: K-1", holder="a", ttl_s=60),
            await lease_call(gate, "leases", key, holder="b", ttl_s=60),
            await lease_call(gate, "leases", holder="a", ttl_s=60),
        ]

        tokens = {json.loads(answer.body)["token"] for answer in (first, again, quoted)}
        assert [answer.status for answer in (first, again, quoted)] == [201, 201, 201]
        assert len(tokens) == 1
        assert [answer.decision for answer in others] == ["lease-held"] * 3


@pytest.mark.parametrize("takeover", [False, True], ids=["plain", "as a takeover"])
async def test_a_grant_that_was_taken_over_is_not_repeated(store_url: str, tmp_path: Path, takeover: bool) -> None:
    """Its key asked for the lease that is lost: the same call again takes nothing back from whoever has it."""
    async with stack(store_url, tmp_path) as gate:
        key = "Idempotency-Key: task-17"
        await lease_call(gate, "leases", key, holder="a", ttl_s=60)
        taken = await lease_call(gate, "leases", key, holder="b", ttl_s=60, takeover=True)
        again = await lease_call(gate, "leases", key, holder="a", ttl_s=60, takeover=takeover)

        assert (taken.status, again.status, again.decision) == (201, 409, "lease-lost")
        assert await gate.highest("report/7") == json.loads(taken.body)["epoch"]


async def test_epochs_are_registered_where_they_are_granted_elsewhere_only(store_url: str, tmp_path: Path) -> None:
    """A lease authority grants its own: an epoch from outside would shut every holder out."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        answer = await lease_call(gate, "epochs", "Fencing-Token: 18446744073709551615", "Fencing-Holder: x")

        assert (answer.status, answer.decision) == (404, "no-such-resource")
        assert (await gate.write("/reports/7", holder="a")).status == 200


async def test_a_token_may_come_in_authorization_where_the_rule_takes_it(store_url: str, tmp_path: Path) -> None:
    """Renewing and releasing take it from where writes do."""
    async with stack(store_url, tmp_path, POLICY + "token_from: [bearer]\n") as gate:
        await gate.lease("report/7", "a")
        bearer = f"Authorization: Bearer {gate.tokens['a']}"
        answers = [await lease_call(gate, "leases/renew", bearer), await lease_call(gate, "leases/release", bearer)]

        assert [answer.status for answer in answers] == [200, 204]


async def test_a_grant_whose_caller_expects_to_be_asked_is_asked_once(store_url: str, tmp_path: Path) -> None:
    """Expect: 100-continue holds for the agents' calls too."""
    body = json.dumps(ASKED).encode()
    async with stack(store_url, tmp_path) as gate, RawClient(gate.port) as client:
        await client.send(request("POST", "/-/fence/leases", "Expect: 100-continue", f"Content-Length: {len(body)}"))
        interim = [await client.line(), await client.line()]
        await client.send(body)
        final = await client.line()

        assert (interim, final) == ([b"HTTP/1.1 100 Continue\r\n", b"\r\n"], b"HTTP/1.1 201 Created\r\n")
