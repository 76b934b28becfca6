"""Principals: who has no key is nobody, who has no right moves nothing, and a quota holds through every gateway."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import ResourceKey
from gateway.store.audit_views import Sought, events
from gateway.store.keys import resource_keys
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import RecordingUpstream, answering
from tests.stack import Stack, stack
from tests.store.fences import opened

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: write
    match: PUT,POST /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: optional}}
  - name: tell
    match: PUT /told/{{id}}
    resource: told/{{path.id}}
    authority: header
  - name: own
    match: PUT /own/{{id}}
    resource: own/{{tenant}}/{{path.id}}
  - name: seen
    match: PUT /seen
    resource: seen/{{query.id}}
    mode: observe
"""
# Principal and key have one name here.
PRINCIPALS = """
principals:
  - {name: ada, key: "${file:%(keys)s/ada}", tenant: north, resources: ["report/*", "told/*", "own/**"], takeover: true}
  - {name: bob, key: "${file:%(keys)s/bob}", tenant: south, resources: ["report/*", "own/**"]}
  - {name: cyd, key: "${file:%(keys)s/cyd}", tenant: north, resources: [report/c*], quota: {leases: 2}}
  - name: dan
    key: "${file:%(keys)s/dan}"
    resources: ["**"]
    quota: {writes_per_minute: 3, resources: 2}
"""
DENIED = [
    ("POST", "/-/fence/leases", {"resource": "report/7", "holder": "h", "ttl_s": 60}),
    ("POST", "/-/fence/leases/renew", {"resource": "report/7"}),
    ("POST", "/-/fence/leases/release", {"resource": "report/7"}),
    ("POST", "/-/fence/leases", {"target": "PUT /reports/7", "holder": "h", "ttl_s": 60}),
    ("POST", "/-/fence/epochs", {"resource": "told/7"}),
    ("PUT", "/reports/7", {}),
    ("PUT", "/told/7", {}),
]


def key_of(name: str) -> str:
    return f"{name}-has-a-key-of-some-length"


class Gate(Stack):
    """The same gateway, asked by principals."""

    async def by(self, name: str | None, method: str, target: str, *fields: str, body: object = None) -> RawAnswer:
        keyed = () if name is None else (f"Fencegate-Key: {key_of(name)}",)
        return await ask(self.port, method, target, *keyed, *fields, body=json.dumps(body or {}).encode())

    async def grant(self, name: str, resource: str, **more: object) -> RawAnswer:
        asked = {"resource": resource, "holder": name, "ttl_s": 60, **more}
        answer = await self.by(name, "POST", "/-/fence/leases", body=asked)
        if answer.status == 201:
            self.tokens[name] = json.loads(answer.body)["token"]
        return answer

    async def put(self, name: str, target: str, *fields: str, body: object = None) -> RawAnswer:
        return await self.by(name, "PUT", target, f"Fencing-Token: {self.tokens[name]}", *fields, body=body)

    async def end(self, name: str, resource: str) -> RawAnswer:
        token = f"Fencing-Token: {self.tokens[name]}"
        return await self.by(name, "POST", "/-/fence/leases/release", token, body={"resource": resource})


@contextlib.asynccontextmanager
async def gateway(store_url: str, directory: Path, upstream: RecordingUpstream | None = None) -> AsyncIterator[Gate]:
    keys, policies = directory / "keys", directory / "policies"
    for folder in (keys, policies):
        folder.mkdir(exist_ok=True)
    for name in ("ada", "bob", "cyd", "dan"):
        (keys / name).write_text(f"{key_of(name)}\n")
    (policies / "principals.yaml").write_text(PRINCIPALS % {"keys": keys})
    async with stack(store_url, directory, POLICY, upstream) as under:
        yield Gate(under.port, under.upstream, under.log)


def _records(raw: Any) -> set[bytes]:
    return set(raw.keys("fg:*:f:*"))


@pytest.mark.parametrize("key", [None, "eve"], ids=["without a key", "with a key that nobody has"])
@pytest.mark.parametrize(
    ("method", "target"),
    [("GET", "/reports/7"), ("PUT", "/reports/7"), ("GET", "/-/fence/leases?resource=report/7"), ("GET", "//x")],
)
async def test_who_is_nobody_gets_nowhere(
    store_url: str, tmp_path: Path, raw: Any, method: str, target: str, key: str | None
) -> None:
    """Reads, writes, lease calls and what can be read in two ways: 401, and the upstream sees nothing."""
    async with gateway(store_url, tmp_path) as gate:
        answer = await gate.by(key, method, target, "Fencing-Token: 5", "Fencing-Holder: h")

        assert (answer.status, answer.decision, answer.problem["action"]) == (401, "unauthenticated", "stop")
        assert gate.upstream.seen == []
        assert _records(raw) == set()


async def test_two_keys_are_none(store_url: str, tmp_path: Path) -> None:
    """A header that is sent twice is refused, whichever of the two is good."""
    async with gateway(store_url, tmp_path) as gate:
        answer = await gate.by("ada", "GET", "/reports/7", f"Fencegate-Key: {key_of('ada')}")

        assert (answer.status, answer.decision) == (400, "header-malformed")


async def test_a_key_goes_neither_upstream_nor_into_the_log(store_url: str, tmp_path: Path) -> None:
    """The log has the principal's name."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("ada", "report/7")
        answer = await gate.put("ada", "/reports/7")
        await gate.by("eve", "GET", "/reports/7")

        lines = [json.loads(line) for line in gate.log.read_text().splitlines()]
        assert answer.decision == "forwarded"
        assert [line.get("principal") for line in lines] == ["ada", "ada", None]
        assert not any(key_of(name) in gate.log.read_text() for name in ("ada", "eve"))
        assert key_of("ada").encode() not in gate.upstream.seen[0].raw


@pytest.mark.parametrize(("method", "target", "body"), DENIED, ids=[f"{one[1]} {at}" for at, one in enumerate(DENIED)])
async def test_who_has_no_right_moves_nothing(
    store_url: str, tmp_path: Path, raw: Any, method: str, target: str, body: object
) -> None:
    """403 whatever the token is: no epoch is recorded, no lease granted, nothing forwarded."""
    async with gateway(store_url, tmp_path) as gate:
        answer = await gate.by("cyd", method, target, "Fencing-Token: 99", "Fencing-Holder: h", body=body)

        assert (answer.status, answer.decision, answer.problem["action"]) == (403, "forbidden", "stop")
        assert gate.upstream.seen == []
        assert _records(raw) == set()


async def test_who_has_no_right_sees_no_lease(store_url: str, tmp_path: Path) -> None:
    """Neither whether there is one nor who holds it."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("ada", "report/7")
        answers = [
            await gate.by("cyd", "GET", f"/-/fence/leases?resource={resource}")
            for resource in ("report/7", "report/8", "nothing/7")
        ]

        assert {answer.decision for answer in answers} == {"forbidden"}


async def test_a_lease_is_taken_over_by_right_only(store_url: str, tmp_path: Path) -> None:
    """The holder goes on writing where the other may not."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("ada", "report/7")
        refused = await gate.grant("bob", "report/7", takeover=True)
        written = await gate.put("ada", "/reports/7")
        taken = await gate.grant("ada", "report/7", takeover=True)

        assert (refused.decision, written.decision, taken.status) == ("forbidden", "forwarded", 201)


async def test_a_tenant_in_a_resource_is_the_caller_s(store_url: str, tmp_path: Path) -> None:
    """Another tenant's resource is leased by nobody, whatever the globs say."""
    async with gateway(store_url, tmp_path) as gate:
        own = await gate.grant("ada", "own/north/7")
        others = await gate.grant("ada", "own/south/7")
        written = await gate.put("ada", "/own/7")

        assert (own.status, written.decision) == (201, "forwarded")
        assert (others.status, others.decision) == (403, "forbidden")


async def test_an_intent_is_its_tenant_s(store_url: str, tmp_path: Path) -> None:
    """Two tenants with one key, path and body: two executions, and neither sees the other's answer or record."""
    async with gateway(store_url, tmp_path) as gate:
        decisions, ids = [], []
        for name in ("ada", "bob"):
            await gate.grant(name, "report/7")
            for _ in range(2):
                decisions.append((await gate.put(name, "/reports/7", "Idempotency-Key: k", body={"a": 1})).decision)
            ids.append(json.loads(gate.log.read_text().splitlines()[-1])["intent"])
            await gate.end(name, "report/7")
        shown = [
            (await gate.by(name, "GET", f"/-/fence/intents/{id}")).status
            for id in ids
            for name in ("ada", "bob", "cyd")
        ]

        assert decisions == ["forwarded", "replayed"] * 2
        assert len(gate.upstream.seen) == 2
        # cyd is of ada's tenant.
        assert shown == [200, 404, 200, 404, 200, 404]


async def test_a_write_without_a_key_is_shown_to_whom_its_resource_may_be(store_url: str, tmp_path: Path) -> None:
    """Its record has no tenant, but its resource: one that names another tenant is nobody else's, whatever the id."""
    async with gateway(store_url, tmp_path, RecordingUpstream(answer=answering(b"", close=True))) as gate:
        await gate.grant("ada", "own/north/7")
        unknown = await gate.put("ada", "/own/7")
        id = json.loads(unknown.body)["intent"]["id"]
        shown = [(await gate.by(name, "GET", f"/-/fence/intents/{id}")).status for name in ("ada", "bob", "dan")]

        assert unknown.decision == "outcome-unknown"
        assert shown == [200, 404, 404]


async def test_writes_of_a_minute_are_counted_through_every_gateway(store_url: str, tmp_path: Path, raw: Any) -> None:
    """The first one too many is refused before the fence, in whichever gateway it comes."""
    async with gateway(store_url, tmp_path) as one, gateway(store_url, tmp_path) as other:
        told = [
            await gate.by("dan", "PUT", "/told/7", f"Fencing-Token: {epoch}", "Fencing-Holder: h")
            for epoch, gate in enumerate((one, other, one, other, one), 1)
        ]

        assert [answer.decision for answer in told] == ["forwarded"] * 3 + ["quota-exceeded"] * 2
        assert told[3].status == 429
        assert 0 < int(told[3].value("Retry-After") or 0) <= 60
        assert raw.hget(resource_keys(ResourceKey("told/7"))[0], "e") == b"3"
        assert (await one.by("ada", "PUT", "/told/7", "Fencing-Token: 9", "Fencing-Holder: h")).decision == "forwarded"


async def test_new_resources_are_counted(store_url: str, tmp_path: Path, raw: Any) -> None:
    """By a write, a lease or a registered epoch alike; what was there before is free."""
    async with gateway(store_url, tmp_path) as gate:
        epoch = ("Fencing-Token: 5", "Fencing-Holder: h")
        await gate.by("ada", "PUT", "/told/0", *epoch)
        told = [
            await gate.by("dan", "PUT", "/told/0", *epoch),
            await gate.grant("dan", "report/1"),
            await gate.by("dan", "POST", "/-/fence/epochs", *epoch, body={"resource": "told/2"}),
            await gate.grant("dan", "report/3"),
            await gate.by("dan", "POST", "/-/fence/epochs", *epoch, body={"resource": "told/4"}),
            await gate.by("dan", "PUT", "/told/5", *epoch),
            await gate.by("dan", "PUT", "/told/2", *epoch),
        ]

        decisions = ["forwarded", "granted", "registered", *["quota-exceeded"] * 3, "forwarded"]
        assert [answer.decision for answer in told] == decisions
        assert len(_records(raw)) == 3


async def test_what_never_comes_to_the_fence_costs_no_quota(store_url: str, tmp_path: Path) -> None:
    """No token, one of another form, no holder, a key that is none: however often, the good writes that follow have
    all of their quota, of the minute and of the day."""
    async with gateway(store_url, tmp_path) as gate:
        epoch = ("Fencing-Token: 5", "Fencing-Holder: h")
        refused = [
            await gate.by("dan", "PUT", "/told/1"),
            await gate.by("dan", "PUT", "/told/2", "Fencing-Token: 5.x"),
            await gate.by("dan", "PUT", "/told/3", "Fencing-Token: 5"),
            await gate.by("dan", "PUT", "/told/4", *epoch, "Fencing-If-Revision: 7"),
            await gate.by("dan", "PUT", "/reports/5", "Fencing-Token: 5"),
            await gate.by("dan", "PUT", "/reports/6", f"Fencing-Token: 5.{'x' * 22}", "Idempotency-Key: k k"),
        ]
        good = [await gate.by("dan", "PUT", f"/told/{number}", *epoch) for number in (8, 9, 9)]
        beyond = await gate.by("dan", "PUT", "/told/9", *epoch)

        forms = ["token-required", "token-malformed", "token-malformed", "header-malformed", "token-malformed"]
        assert [answer.decision for answer in refused] == [*forms, "header-malformed"]
        assert [answer.decision for answer in good] == ["forwarded"] * 3
        assert beyond.decision == "quota-exceeded"


async def test_what_the_fence_refuses_is_a_write_of_the_minute(store_url: str, tmp_path: Path) -> None:
    """A loop of dead tokens asks the store each time: it is limited as good writes are."""
    async with gateway(store_url, tmp_path) as gate:
        dead = f"Fencing-Token: 5.{'x' * 22}"
        told = [(await gate.by("dan", "PUT", "/reports/1", dead)).decision for _ in range(4)]

        assert told == ["token-invalid"] * 3 + ["quota-exceeded"]


async def test_live_leases_are_counted(store_url: str, tmp_path: Path) -> None:
    """Renewals keep a place, a release gives it back, and a lease that was not granted has none."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("ada", "report/c0")
        held = await gate.grant("cyd", "report/c0")
        first, second = await gate.grant("cyd", "report/c1"), await gate.grant("cyd", "report/c2")
        token = f"Fencing-Token: {gate.tokens['cyd']}"
        renewed = await gate.by("cyd", "POST", "/-/fence/leases/renew", token, body={"resource": "report/c2"})
        third = await gate.grant("cyd", "report/c3")
        await gate.end("cyd", "report/c2")
        again = await gate.grant("cyd", "report/c3")

        assert (held.decision, first.status, second.status, renewed.status) == ("lease-held", 201, 201, 200)
        assert (third.status, third.decision, again.status) == (429, "quota-exceeded", 201)


async def test_a_lease_whose_answer_was_lost_counts_once(store_url: str, tmp_path: Path) -> None:
    """Its repeat under the same key is the same lease."""
    async with gateway(store_url, tmp_path) as gate:
        asked = {"resource": "report/c1", "holder": "cyd", "ttl_s": 60}
        for _ in range(3):
            answer = await gate.by("cyd", "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked)
            assert answer.status == 201

        assert (await gate.grant("cyd", "report/c2")).status == 201
        assert (await gate.grant("cyd", "report/c3")).decision == "quota-exceeded"
        assert (await gate.by("cyd", "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked)).status == 201


@pytest.mark.parametrize("call", ["renew", "release"])
async def test_no_call_but_its_own_end_stops_a_lease_from_counting(store_url: str, tmp_path: Path, call: str) -> None:
    """Its token shown for another resource, for another's lease, or with an older epoch gives no place back."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("cyd", "report/c1")
        await gate.grant("cyd", "report/c2")
        for _ in range(2):
            # Taken over, its epoch is a larger one even within the same millisecond.
            await gate.grant("ada", "report/c3", takeover=True)
        token = gate.tokens["cyd"]
        older = "1." + token.partition(".")[2]
        shown = [(token, "report/c3"), (token, "report/c4"), (older, "report/c2")]
        told = [
            await gate.by("cyd", "POST", f"/-/fence/leases/{call}", f"Fencing-Token: {text}", body={"resource": name})
            for text, name in shown
        ]
        more = await gate.grant("cyd", "report/c5")

        assert [answer.status for answer in told] == [412, 401, 412]
        assert more.decision == "quota-exceeded"


async def test_a_repeat_that_is_reset_gives_no_place_back(store_url: str, tmp_path: Path) -> None:
    """The lease lives on, and counts."""
    async with gateway(store_url, tmp_path) as gate:
        asked = {"resource": "report/c1", "holder": "cyd", "ttl_s": 60}
        await gate.by("cyd", "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked)
        await gate.grant("cyd", "report/c2")
        fields = (f"Fencegate-Key: {key_of('cyd')}", "Idempotency-Key: k")
        for _ in range(10):
            async with RawClient(gate.port) as client:
                await client.send(request("POST", "/-/fence/leases", *fields, body=json.dumps(asked).encode()))
                client.writer.transport.abort()
            assert (await gate.grant("cyd", "report/c3")).decision == "quota-exceeded"


async def test_a_key_is_its_principals_own(store_url: str, tmp_path: Path) -> None:
    """Another of the tenant, with the same key and the same holder's name, is not handed the token."""
    async with gateway(store_url, tmp_path) as gate:
        asked = {"resource": "report/c1", "holder": "cyd", "ttl_s": 60}
        told = [
            await gate.by(name, "POST", "/-/fence/leases", "Idempotency-Key: k", body=asked) for name in ("cyd", "ada")
        ]

        assert [answer.decision for answer in told] == ["granted", "lease-held"]


@pytest.mark.parametrize(
    ("name", "target", "decision"),
    [
        ("cyd", "/seen", "resource-unresolved"),
        ("cyd", "/seen?id=7", "forbidden"),
        ("dan", "/seen", "observed"),
        ("dan", "/seen?id=7", "observed"),
    ],
)
async def test_an_observed_rule_gives_nobody_a_right(
    store_url: str, tmp_path: Path, name: str, target: str, decision: str
) -> None:
    """Where the resource cannot be told, only who may write every resource is let through."""
    async with gateway(store_url, tmp_path) as gate:
        answer = await gate.by(name, "PUT", target)

        assert answer.decision == decision
        assert len(gate.upstream.seen) == (decision == "observed")


async def test_the_audit_trail_says_who_called(store_url: str, tmp_path: Path) -> None:
    """In every step of a write, with a key and without one."""
    async with gateway(store_url, tmp_path) as gate, opened(store_url) as store:
        await gate.grant("ada", "report/7")
        await gate.put("ada", "/reports/7", "Idempotency-Key: k")
        await gate.by("ada", "PUT", "/told/7", "Fencing-Token: 5", "Fencing-Holder: h")

        trail = await events(store, Sought(), None)
        # Of two shards, within one millisecond: they are in no order.
        steps = sorted((event.principal, event.after) for event in trail.items if event.intent)
        assert steps == [("ada", "applied")] * 2 + [("ada", "in_flight")] * 2


async def test_a_write_without_a_key_is_shown_to_who_may_write_its_resource(store_url: str, tmp_path: Path) -> None:
    """Its record has no tenant."""
    silent = RecordingUpstream(answer=answering(b"", close=True))
    async with gateway(store_url, tmp_path, silent) as gate:
        await gate.grant("ada", "report/7")
        id = (await gate.put("ada", "/reports/7")).problem["intent"]["id"]

        told = [(await gate.by(name, "GET", f"/-/fence/intents/{id}")).status for name in ("ada", "bob", "cyd", "dan")]
        assert told == [200, 200, 404, 200]
