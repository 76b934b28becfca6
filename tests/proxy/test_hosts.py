"""Upstreams that are mounted by host: no spelling of `Host` leads to another one's rules."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
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
