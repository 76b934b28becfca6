"""The agents' lease calls as these tests make them."""

import json

from tests.raw import RawAnswer, ask
from tests.stack import Stack

ASKED = {"resource": "report/7", "holder": "a", "ttl_s": 60}


async def lease_call(gate: Stack, call: str, *fields: str, **members: object) -> RawAnswer:
    body = json.dumps({"resource": "report/7"} | members).encode()
    return await ask(gate.port, "POST", f"/-/fence/{call}", *fields, body=body)


def token_of(gate: Stack, holder: str = "a") -> str:
    return f"Fencing-Token: {gate.tokens[holder]}"


async def lookup(gate: Stack, resource: str = "report/7") -> RawAnswer:
    return await ask(gate.port, "GET", f"/-/fence/leases?resource={resource}")
