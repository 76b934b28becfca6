"""A gateway with principals of two tenants, and what they ask of it."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream
from tests.stack import Stack, stack

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
async def gateway(
    store_url: str, directory: Path, upstream: RecordingUpstream | None = None, policy: str = POLICY
) -> AsyncIterator[Gate]:
    keys, policies = directory / "keys", directory / "policies"
    for folder in (keys, policies):
        folder.mkdir(exist_ok=True)
    for name in ("ada", "bob", "cyd", "dan"):
        (keys / name).write_text(f"{key_of(name)}\n")
    (policies / "principals.yaml").write_text(PRINCIPALS % {"keys": keys})
    async with stack(store_url, directory, policy, upstream) as under:
        yield Gate(under.port, under.upstream, under.log)


def records(raw: Any) -> set[bytes]:
    return set(raw.keys("fg:*:f:*"))
