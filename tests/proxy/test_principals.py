"""Principals: who has no key is nobody, who has no right moves nothing, and a quota holds through every gateway."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.store.views.audit_views import Sought, events
from tests.proxy.principals import Gate, gateway, key_of, records
from tests.recording import RecordingUpstream, answering
from tests.stack import stack
from tests.store.fences import opened

NAMESAKES = """
principals:
  - {{name: ada, key: "${{file:{keys}/ada}}", tenant: north, resources: ["**"]}}
  - {{name: ada-x, key: "${{file:{keys}/ada-x}}", tenant: north, resources: ["**"]}}
"""
BELOW = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
writes:
  - {{name: own, match: "PUT /own/{{part}}/{{id}}", resource: "own/{{tenant}}/{{path.part}}/{{path.id}}"}}
"""
NAMED = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
writes:
  - {{name: own, match: "PUT /own/{{id}}", resource: "{{principal}}-{{path.id}}"}}
"""
SECRET = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\ntold to ada"
DENIED = [
    ("POST", "/-/fence/leases", {"resource": "report/7", "holder": "h", "ttl_s": 60}),
    ("POST", "/-/fence/leases/renew", {"resource": "report/7"}),
    ("POST", "/-/fence/leases/release", {"resource": "report/7"}),
    ("POST", "/-/fence/leases", {"target": "PUT /reports/7", "holder": "h", "ttl_s": 60}),
    ("POST", "/-/fence/epochs", {"resource": "told/7"}),
    ("PUT", "/reports/7", {}),
    ("PUT", "/told/7", {}),
]


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
        assert answer.value("WWW-Authenticate") == 'Fencegate-Key realm="fencegate"'
        assert gate.upstream.seen == []
        assert records(raw) == set()


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
        assert records(raw) == set()


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


@pytest.mark.parametrize(
    ("asked", "decision"),
    [
        ({"resource": "report/7", "takeover": True}, "forbidden"),
        ({"target": "PUT /reports/7", "takeover": True}, "forbidden"),
        ({"resource": "report/7", "Takeover": True}, "bad-request"),
        ({"resource": "report/7", "takeover": 1}, "bad-request"),
        ({"resource": "report/7", "takeover": "true"}, "bad-request"),
    ],
)
async def test_no_other_spelling_takes_over(
    store_url: str, tmp_path: Path, asked: dict[str, object], decision: str
) -> None:
    """Nor does the way in which the resource is named."""
    async with gateway(store_url, tmp_path) as gate:
        await gate.grant("ada", "report/7")
        refused = await gate.by("bob", "POST", "/-/fence/leases", body={"holder": "bob", "ttl_s": 60} | asked)

        assert (refused.decision, (await gate.put("ada", "/reports/7")).decision) == (decision, "forwarded")


async def test_a_tenant_in_a_resource_is_the_caller_s(store_url: str, tmp_path: Path) -> None:
    """Another tenant's resource is leased by nobody, whatever the globs say."""
    async with gateway(store_url, tmp_path) as gate:
        own = await gate.grant("ada", "own/north/7")
        others = await gate.grant("ada", "own/south/7")
        written = await gate.put("ada", "/own/7")

        assert (own.status, written.decision) == (201, "forwarded")
        assert (others.status, others.decision) == (403, "forbidden")


@pytest.mark.parametrize(
    ("resource", "decision"),
    [
        ("own/south/../north/x/7", "no-such-resource"),
        ("own/south/%2e%2e/7", "no-such-resource"),
        ("own/south/%2e%2e%2fnorth/7", "no-such-resource"),
        ("own/../north/7", "forbidden"),
        ("own/./north/7", "forbidden"),
        ("own/north/x/7", "forbidden"),
    ],
)
async def test_no_dots_lead_to_another_tenant(
    store_url: str, tmp_path: Path, raw: Any, resource: str, decision: str
) -> None:
    """A name is taken by its letters: what no rule can make of a request is no resource, and nothing is kept of it."""
    async with gateway(store_url, tmp_path, policy=BELOW) as gate:
        answer = await gate.grant("bob", resource)
        before = records(raw)
        own = await gate.grant("bob", "own/south/x/7")

        assert (answer.status, answer.decision) == ({"no-such-resource": 404, "forbidden": 403}[decision], decision)
        assert (before, own.status) == (set(), 201)


async def test_a_principal_with_a_separator_in_its_name_is_no_other_principal(store_url: str, tmp_path: Path) -> None:
    """`ada-x-1` is what ada calls `x-1`; what ada-x calls `1` is `ada%2Dx-1`, and is hers alone."""
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "principals.yaml").write_text(NAMESAKES.format(keys=tmp_path))
    for name in ("ada", "ada-x"):
        (tmp_path / name).write_text(key_of(name))
    async with stack(store_url, tmp_path, NAMED) as under:
        gate = Gate(under.port, under.upstream, under.log)
        asked = (("ada-x", "ada-x-1"), ("ada", "ada-x-1"), ("ada", "ada%2Dx-1"), ("ada-x", "ada%2Dx-1"))
        told = [(await gate.grant(name, resource)).decision for name, resource in asked]
        written = [
            (await gate.put(name, target)).decision
            for name in ("ada", "ada-x")
            for target in ("/own/x-1", "/own/1", "/own/x%2D1")
        ]

        assert told == ["forbidden", "granted"] * 2
        assert written == ["forwarded", "token-invalid", "forwarded", "token-invalid", "forwarded", "token-invalid"]


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
        # cyd is of ada's tenant, and may not write the resource.
        assert shown == [200, 404, 404, 404, 200, 404]


async def test_no_token_shows_another_tenants_intent(store_url: str, tmp_path: Path) -> None:
    """Neither a live one of the same resource nor the one that the intent was written under."""
    async with gateway(store_url, tmp_path, RecordingUpstream(answer=answering(SECRET))) as gate:
        await gate.grant("ada", "report/7")
        written = await gate.put("ada", "/reports/7", "Idempotency-Key: k")
        id = json.loads(gate.log.read_text().splitlines()[-1])["intent"]
        await gate.end("ada", "report/7")
        await gate.grant("bob", "report/7")
        told = [
            await gate.by("bob", "GET", f"/-/fence/intents/{id}", f"Fencing-Token: {gate.tokens[whose]}")
            for whose in ("bob", "ada")
        ]
        own = await gate.by("ada", "GET", f"/-/fence/intents/{id}")

        assert [(answer.status, answer.decision) for answer in told] == [(404, "no-such-intent")] * 2
        assert not any(word in answer.body for answer in told for word in (b"told to ada", b"applied"))
        assert b"told to ada" in written.body and b"told to ada" in own.body


async def test_a_token_and_a_key_of_another_give_no_right(store_url: str, tmp_path: Path) -> None:
    """Also of the same tenant, whose answer would be replayed: it is shown to nobody who may not write."""
    async with gateway(store_url, tmp_path, RecordingUpstream(answer=answering(SECRET))) as gate:
        await gate.grant("ada", "report/7")
        await gate.put("ada", "/reports/7", "Idempotency-Key: k")
        token = f"Fencing-Token: {gate.tokens['ada']}"
        answer = await gate.by("cyd", "PUT", "/reports/7", token, "Idempotency-Key: k")
        again = await gate.put("ada", "/reports/7", "Idempotency-Key: k")

        assert (answer.status, answer.decision) == (403, "forbidden")
        assert b"told to ada" not in answer.body and "intent" not in answer.problem
        assert (again.decision, len(gate.upstream.seen)) == ("replayed", 1)


async def test_a_write_without_a_key_is_shown_to_whom_its_resource_may_be(store_url: str, tmp_path: Path) -> None:
    """Its record has no tenant, but its resource: one that names another tenant is nobody else's, whatever the id."""
    async with gateway(store_url, tmp_path, RecordingUpstream(answer=answering(b"", close=True))) as gate:
        await gate.grant("ada", "own/north/7")
        unknown = await gate.put("ada", "/own/7")
        id = json.loads(unknown.body)["intent"]["id"]
        shown = [(await gate.by(name, "GET", f"/-/fence/intents/{id}")).status for name in ("ada", "bob", "dan")]

        assert unknown.decision == "outcome-unknown"
        assert shown == [200, 404, 404]


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
