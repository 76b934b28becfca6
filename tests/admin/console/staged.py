"""What agents do at the demo's gateway, so that there is something to see and to decide about."""

import http.client
import json
from urllib.parse import quote

from gateway.cli.story.stage import Stage, get_json, post_json


def call(address: str, method: str, path: str, document: object, **headers: str) -> tuple[int, dict[str, object]]:
    """One call of an agent; headers by name, with underscores for dashes."""
    connection = http.client.HTTPConnection(address, timeout=60)
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, json.dumps(document), {"Content-Type": "application/json", **fields})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")
    finally:
        connection.close()


def lease(stage: Stage, resource: str, holder: str = "agent-a") -> str:
    """Take the resource, from whoever has it; returns the token."""
    asked = {"resource": resource, "holder": holder, "ttl_s": 600, "takeover": True}
    status, granted = call(stage.gateway, "POST", "/-/fence/leases", asked)
    assert status == 201, granted
    return str(granted["token"])


def pay(stage: Stage, account: str, reference: str, **fields: str) -> tuple[int, dict[str, object]]:
    """Ask for a payment from the account, or repeat what was asked."""
    body = {"account": account, "to": "supplier-3", "amount": 125000, "reference": reference}
    return call(stage.gateway, "POST", "/payments", body, **fields)


def asked_for(stage: Stage, account: str, reference: str) -> tuple[str, str]:
    """A payment that waits for an approval: its intent and the token it was asked under."""
    token = lease(stage, f"account/{account}")
    status, answer = pay(stage, account, reference, Fencing_Token=token)
    assert status == 202, answer
    return str(answer["id"]), token


def broken_off(stage: Stage, report: str, key: str) -> str:
    """A comment that was executed and of which nobody knows; its intent."""
    token = lease(stage, f"report/{report}")
    path = f"/reports/{quote(report, safe='')}/comments?hang_up=1"
    status, answer = call(stage.gateway, "POST", path, {"text": "x"}, Fencing_Token=token, Idempotency_Key=key)
    assert status == 504, answer
    intent = answer["intent"]
    assert isinstance(intent, dict)
    return str(intent["id"])


def payments_of(stage: Stage, reference: str) -> list[dict[str, object]]:
    """What the payment API itself has."""
    found = get_json(stage.upstream, f"/payments?reference={reference}")
    assert isinstance(found, dict)
    payments: list[dict[str, object]] = found["found"]
    return payments


def state_of(stage: Stage, intent: str) -> str:
    found = get_json(stage.admin, f"/api/v1/intents/{intent}")
    assert isinstance(found, dict)
    return str(found["state"])


def approve(stage: Stage, intent: str) -> None:
    """As `fencegate approvals approve` does."""
    found = get_json(stage.admin, f"/api/v1/intents/{intent}")
    assert isinstance(found, dict)
    post_json(stage.admin, f"/api/v1/intents/{intent}/approve", {"note": "as ordered", "digest": found["digest"]})
