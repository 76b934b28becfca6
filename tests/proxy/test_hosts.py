"""Upstreams that are mounted by host: no spelling of `Host` leads to another one's rules."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, RawClient, ask
from tests.recording import RecordingUpstream, Seen
from tests.stack import Stack, stack

MOUNTED = """
upstream: strict
url: http://localhost:{port}
host: preserve
mount: {{host: a.example, path: /}}
writes:
  - {{name: write, match: "PUT /docs/{{id}}", resource: "strict/{{path.id}}"}}
"""
# At the same server, for whoever comes by another name.
ANY = """
upstream: any
url: http://localhost:9
mount: {path: /}
writes:
  - {name: write, match: "PUT /docs/{id}", resource: "any/{path.id}"}
"""


def policies(directory: Path) -> Path:
    (directory / "policies").mkdir()
    (directory / "policies" / "any.yaml").write_text(ANY)
    return directory


HOSTS = {
    "a.example": (401, "token-invalid"),
    "a.example.": (400, "ambiguous-target"),
    "A.example": (400, "ambiguous-target"),
    "a.example:80": (400, "ambiguous-target"),
    "a.example:": (400, "ambiguous-target"),
    "a.example%2e": (400, "bad-request"),
    "a.example,x": (400, "bad-request"),
    "a.example..": (400, "bad-request"),
    "a.example:080": (400, "ambiguous-target"),
    "a.example:8081": (400, "ambiguous-target"),
    "a.example:80@b.example": (400, "bad-request"),
    "a.example:80, b.example": (400, "bad-request"),
    "a.example/": (400, "bad-request"),
}


async def test_a_host_in_another_spelling_leads_nowhere(store_url: str, tmp_path: Path) -> None:
    """Some servers take it for the same site, others for the one that takes all others: none of them is asked."""
    async with stack(store_url, policies(tmp_path), MOUNTED) as gate:
        await gate.lease("strict/7", "agent-b")
        await gate.lease("any/7")
        before, token = await gate.highest("strict/7"), f"Fencing-Token: {gate.tokens['agent-a']}"

        answers = {host: await ask(gate.port, "PUT", "/docs/7", token, body=b"{}", host=host) for host in HOSTS}

        assert {host: (answer.status, answer.decision) for host, answer in answers.items()} == HOSTS
        assert (await gate.highest("strict/7"), gate.upstream.seen) == (before, [])


# To each: how it is asked for, and what becomes of it.
ABSOLUTE = {
    "its own host": ("http://a.example/docs/7", "a.example"),
    "another one": ("http://a.example/docs/7", "b.example"),
    "in capitals": ("http://A.example/docs/7", "a.example"),
    "with a port": ("http://a.example:80/docs/7", "a.example"),
    "with a name of somebody": ("http://x@a.example/docs/7", "a.example"),
    "another scheme": ("https://a.example/docs/7", "a.example"),
}


@pytest.mark.parametrize(("target", "host"), ABSOLUTE.values(), ids=ABSOLUTE)
async def test_no_target_names_a_host(store_url: str, tmp_path: Path, target: str, host: str) -> None:
    """Of two names servers take either."""
    async with stack(store_url, policies(tmp_path), MOUNTED) as gate:
        await gate.lease("strict/7")
        answer = await ask(gate.port, "PUT", target, f"Fencing-Token: {gate.tokens['agent-a']}", body=b"{}", host=host)

        assert (answer.status, answer.decision) == (400, "ambiguous-target")
        assert gate.upstream.seen == []


async def by_host(gate: Stack, *fields: str, version: str = "1.1") -> RawAnswer:
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    head = "\r\n".join((f"PUT /docs/7 HTTP/{version}", token, *fields, "Content-Length: 2"))
    async with RawClient(gate.port) as client:
        await client.send(head.encode() + b"\r\n\r\n{}")
        return await client.answer()


async def test_no_other_field_names_a_host(store_url: str, tmp_path: Path) -> None:
    """What callers say of one does not reach the API; without `Host`, or with an empty one, it is not this API's."""
    others = ("X-Forwarded-Host: b.example", "X-Host: b.example", "X-Original-Host: b.example")
    async with stack(store_url, policies(tmp_path), MOUNTED) as gate:
        await gate.lease("strict/7")
        told = await by_host(gate, "Host: a.example", *others, "Forwarded: host=b.example")
        nowhere = [await by_host(gate, "Host: "), await by_host(gate, version="1.0")]
        twice = await by_host(gate, "Host: a.example", "Host: b.example")
        none = await by_host(gate)

        assert (told.decision, twice.decision, none.decision) == ("forwarded", "bad-request", "bad-request")
        assert {one.decision for one in nowhere} <= {"token-invalid", "bad-request"}
        (seen,) = gate.upstream.seen
        assert seen.values("host") == ["a.example"]
        assert b"b.example" not in seen.raw


TOLD_BY_HOST = """
upstream: docs
url: http://localhost:{port}
HOST
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: write
    match: PUT /docs/{{id}}
    resource: doc/{{path.id}}
    authority: header
    intent: {{mode: required}}
"""


async def its_host(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """Answers with the host that it was asked for, as an API with several sites does."""
    [host] = seen.values("host")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(host), host.encode()))


@pytest.mark.parametrize("preserved", [True, False], ids=["preserve", "url"])
async def test_a_key_at_two_hosts_is_two_intents_where_the_api_sees_them(
    store_url: str, tmp_path: Path, preserved: bool
) -> None:
    """No site's answer is another's: each executes once, under whatever spelling of its host. Where the API sees the
    `url`'s host alone, it is one.
    """
    policy = TOLD_BY_HOST.replace("HOST\n", "host: preserve\n" if preserved else "")
    hosts = ["a.example", "b.example", "a.example:8080", "A.Example.:80", "b.example:", "a.example:08080", "a.example"]
    async with stack(store_url, tmp_path, policy, RecordingUpstream(its_host)) as gate:
        fields = (*proof(), "Idempotency-Key: k-1")
        told = [await ask(gate.port, "PUT", "/docs/7", *fields, body=b"{}", host=host) for host in hosts]

        executed = ["a.example", "b.example", "a.example:8080"] if preserved else [f"localhost:{gate.upstream.port}"]
        repeats = ["a.example", "b.example", "a.example:8080", "a.example"] if preserved else executed * 6
        decisions = ["forwarded"] * len(executed) + ["replayed"] * len(repeats)
        assert [answer.decision for answer in told] == decisions
        assert [answer.body.decode() for answer in told] == executed + repeats
        assert [seen.values("host") for seen in gate.upstream.seen] == [[host] for host in executed]


async def by_target(gate: Stack, call: str, host: str, *fields: str, **members: object) -> RawAnswer:
    body = json.dumps({"target": "PUT /docs/7", **members}).encode()
    return await ask(gate.port, "POST", f"/-/fence/{call}", *fields, body=body, host=host)


@pytest.mark.parametrize(("host", "resource"), [("a.example", "strict/7"), ("b.example:80", "any/7")])
async def test_a_lease_call_by_target_means_the_write_at_its_own_host(
    store_url: str, tmp_path: Path, host: str, resource: str
) -> None:
    """Granted, renewed and released alike."""
    async with stack(store_url, policies(tmp_path), MOUNTED) as gate:
        granted = await by_target(gate, "leases", host, holder="a", ttl_s=60)
        token = f"Fencing-Token: {json.loads(granted.body)['token']}"
        renewed = await by_target(gate, "leases/renew", host, token)
        released = await by_target(gate, "leases/release", host, token)

        assert json.loads(granted.body)["resource"] == json.loads(renewed.body)["resource"] == resource
        assert released.status == 204
