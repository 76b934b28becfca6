"""Health: up, ready, and the metrics."""

import json
from pathlib import Path
from typing import Any

from gateway.core.check import Check
from gateway.store.embedded import find_server
from gateway.store.keys import store_record
from gateway.store.views.intent_views import LISTED
from tests.admin.conftest import Admin, listening
from tests.intending import begun, ended, intended
from tests.store.halves import halved
from tests.store.server import Server


async def test_a_gateway_that_serves_is_ready(admin: Admin) -> None:
    """A store that answers and a worker that accepts are enough."""
    answer = await admin.call("GET", "/readyz")

    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ready"})


async def test_every_reason_not_to_be_ready_is_named(admin: Admin) -> None:
    """An operator sees all of them at once; the process is up all the same."""
    admin.workers_ready, admin.stopping, admin.policies_are_known = 0, True, False

    answer = await admin.call("GET", "/readyz")

    reasons = ["the gateway is stopping", "no worker accepts requests"]
    reasons.append("for too long nobody has said that the policies are in force, and workers refuse writes")
    assert (answer.status, json.loads(answer.body)) == (503, {"status": "not ready", "reasons": reasons})
    assert (await admin.call("GET", "/healthz")).status == 200


async def test_a_store_that_is_away_shows_everywhere(tmp_path: Path) -> None:
    """Not ready; down in the metrics, which still come; and a call that needs it is to be repeated."""
    own = Server(find_server(), tmp_path, "--save", "")
    own.start()
    async with listening(own.url, tmp_path, store_timeout_s=0.5) as admin:
        own.kill()

        ready = await admin.call("GET", "/readyz")
        metrics = await admin.call("GET", "/metrics")
        resources = await admin.call("GET", "/api/v1/resources")

    assert ready.status == 503
    assert json.loads(ready.body)["reasons"][0].startswith("the store is away: ")
    assert b"fencegate_store_up 0.0" in metrics.body
    assert b"fencegate_intents{" not in metrics.body
    assert (resources.status, resources.problem["action"]) == (503, "retry")


async def test_a_part_of_the_store_that_is_away_shows_too(admin: Admin, tmp_path: Path) -> None:
    """What some writes need is not there: not ready, with the server's name."""
    async with halved(tmp_path, 0.2) as (store, odd):
        admin.store.link, whole = store.link, admin.store.link
        try:
            odd.kill()
            ready = await admin.call("GET", "/readyz")
            metrics = await admin.call("GET", "/metrics")
        finally:
            admin.store.link = whole

    assert ready.status == 503
    assert json.loads(ready.body)["reasons"][0].startswith("a part of the store is away: odd: ")
    assert b"fencegate_store_up 0.0" in metrics.body


async def test_a_loss_that_cannot_be_read_is_a_reason_too(admin: Admin, raw: Any) -> None:
    """What keeps an operator from an answer is one itself."""
    raw.set(store_record("000"), "no record")

    ready = await admin.call("GET", "/readyz")

    assert ready.status == 503
    assert json.loads(ready.body)["reasons"][0].startswith("the store is away: WRONGTYPE")


async def test_a_store_that_became_unsafe_is_named(admin: Admin) -> None:
    """With what to do: whoever reads it may not be who changed it."""
    admin.unfit = (Check("eviction", False, "allkeys-lru", "Set maxmemory-policy noeviction."),)

    answer = await admin.call("GET", "/readyz")

    reasons = ["the store is unsafe: eviction: allkeys-lru; Set maxmemory-policy noeviction."]
    assert (answer.status, json.loads(answer.body)["reasons"]) == (503, reasons)


async def test_metrics_are_in_prometheus_format(admin: Admin) -> None:
    """The version of the format is named."""
    answer = await admin.call("GET", "/metrics")

    assert answer.value("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert b"fencegate_workers_ready 1.0" in answer.body


async def test_intents_are_counted_by_their_state(admin: Admin) -> None:
    """At the moment of the question: an alert on unknown ones needs no other source."""
    await ended(admin.store, intended("k-1"), "unknown")
    await begun(admin.store, intended(None))

    lines = (await admin.call("GET", "/metrics")).body.decode().splitlines()

    found = {line for line in lines if line.startswith("fencegate_intents{")}
    assert found == {
        'fencegate_intents{state="in_flight"} 1.0',
        'fencegate_intents{state="unknown"} 1.0',
        *(f'fencegate_intents{{state="{state}"}} 0.0' for state in LISTED if state != "unknown"),
    }


async def test_pauses_are_counted_by_what_they_name(admin: Admin) -> None:
    """A forgotten one stands out; no label has its name."""
    for selector in ({"all": True}, {"resource": "report/7"}, {"holder": "a"}, {"holder": "b"}):
        await admin.call("POST", "/api/v1/pauses", body=json.dumps({**selector, "reason": "r"}).encode())

    lines = (await admin.call("GET", "/metrics")).body.decode().splitlines()

    found = {line for line in lines if line.startswith("fencegate_pauses{")}
    assert found == {
        'fencegate_pauses{selector="all"} 1.0',
        'fencegate_pauses{selector="upstream"} 0.0',
        'fencegate_pauses{selector="rule"} 0.0',
        'fencegate_pauses{selector="resource"} 1.0',
        'fencegate_pauses{selector="tenant"} 0.0',
        'fencegate_pauses{selector="holder"} 2.0',
    }


async def test_a_page_lists_the_calls(admin: Admin) -> None:
    """A person who writes a client finds out what is here; the page runs nothing."""
    answer = await admin.call("GET", "/api/v1")

    for call in ("resources", "intents", "audit", "pauses", "policies"):
        assert f"/api/v1/{call}".encode() in answer.body
    assert answer.value("Content-Security-Policy") == "default-src 'none'; frame-ancestors 'none'"


async def test_a_path_that_is_not_there_is_a_problem(admin: Admin) -> None:
    """Errors have one shape, the framework's own included."""
    missing = await admin.call("GET", "/api/v1/nothing")
    other_method = await admin.call("POST", "/api/v1/policies", body=b"{}")

    assert (missing.status, missing.problem["type"]) == (404, "urn:fencegate:not-found")
    assert (other_method.status, other_method.problem["type"]) == (405, "urn:fencegate:method-not-allowed")
    assert other_method.value("Allow") == "GET, HEAD"
