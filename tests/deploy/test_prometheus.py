"""Rules, alerts and dashboard on the data of a real run, told by a real Prometheus."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from deploy.grafana.dashboard import panels
from deploy.grafana.panel import Panel
from gateway.cli.story.scenes import Scenes, Teller
from gateway.cli.story.stage import Stage, set_stage
from tests.deploy.prometheus import AVAILABLE, RATE_INTERVAL, Prometheus, watching
from tests.raw import RawAnswer, ask
from tests.until import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not AVAILABLE, reason="no prometheus on PATH (Debian: apt-get install prometheus)"),
]
JSON = "Content-Type: application/json"


class Errand:
    """An agent beside those of the demo."""

    def __init__(self, stage: Stage) -> None:
        self._port = int(stage.gateway.rpartition(":")[2])
        self._token = ""

    async def takes(self, resource: str) -> None:
        asked = f'{{"resource": "{resource}", "holder": "errand", "ttl_s": 60}}'.encode()
        answer = await ask(self._port, "POST", "/-/fence/leases", JSON, body=asked, host="localhost")
        assert answer.status == 201, answer.body
        self._token = str(json.loads(answer.body)["token"])

    async def posts(self, target: str, body: bytes, *fields: str) -> RawAnswer:
        token = f"Fencing-Token: {self._token}"
        return await ask(self._port, "POST", target, token, JSON, *fields, body=body, host="localhost")


async def run_about(stage: Stage, name: str) -> None:
    """What the demo's scenes leave out: a payment that waits for a person, a renewal, an outcome that nobody knows."""
    errand = Errand(stage)
    await errand.takes(f"account/{name}")
    payment = f'{{"account": "{name}", "to": "supplier-3", "amount": 1, "reference": "{name}"}}'.encode()
    assert (await errand.posts("/payments", payment)).decision == "awaiting-approval"
    assert (await errand.posts("/-/fence/leases/renew", f'{{"resource": "account/{name}"}}'.encode())).status == 200
    await errand.takes(f"report/{name}")
    unknown = await errand.posts(f"/reports/{name}/comments?hang_up=1", b'{"text": "?"}', f"Idempotency-Key: {name}")
    assert unknown.decision == "outcome-unknown"


async def scenes(stage: Stage) -> None:
    told = Scenes(stage, Teller())
    for scene in (told.paused_agent, told.first_write_of_the_old, told.write_in_flight, told.broken_off):
        await asyncio.to_thread(scene)


async def fires(prometheus: Prometheus, alert: str) -> None:
    async def fired() -> bool:
        await asyncio.sleep(0.5)
        return alert in await prometheus.firing()

    await until(fired, within_s=60)


async def is_drawn(prometheus: Prometheus, panel: Panel) -> bool:
    exprs = [query.expr.replace("$job", ".*").replace("$__rate_interval", RATE_INTERVAL) for query in panel.queries]
    return any([await prometheus.has_numbers(expr) for expr in exprs])


async def all_are_drawn(prometheus: Prometheus) -> bool:
    empty = [panel.title for panel in panels() if not panel.rare and not await is_drawn(prometheus, panel)]
    # What pytest shows of a test that waits in vain.
    sys.stdout.write(f"empty: {empty}\n")
    await asyncio.sleep(1)
    return not empty


async def test_rules_alerts_and_dashboard_on_the_data_of_a_run(tmp_path: Path) -> None:
    """Each rule is evaluated without an error, no panel is empty but those of what did not happen, an unknown outcome
    and a store that is away are told, and a quiet gateway is not complained about.
    """
    with set_stage() as stage:
        async with watching(stage.admin, tmp_path) as prometheus:
            await scenes(stage)
            # Of five writes one was not answered; a busy machine is slow.
            assert await prometheus.firing() <= {"FencegateSlow", "FencegateUpstreamFails"}

            for name in ("first", "second"):
                await run_about(stage, name)
            await fires(prometheus, "FencegateUnknownIntents")
            groups = (await prometheus.ask("rules"))["groups"]
            # A series that began a moment ago has a rate after its second scrape.
            await until(lambda: all_are_drawn(prometheus), within_s=60)

            store = int((stage.directory / "store" / "store.lock").read_text().split()[0])
            os.kill(store, signal.SIGSTOP)
            try:
                await fires(prometheus, "FencegateStoreDown")
            finally:
                os.kill(store, signal.SIGCONT)

    assert [rule["name"] for group in groups for rule in group["rules"] if rule["health"] != "ok"] == []
