"""A real Prometheus beside a running gateway."""

import asyncio
import contextlib
import json
import math
import shutil
import socket
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.pages import ROOT
from tests.until import STARTS_WITHIN_S, until

AVAILABLE = shutil.which("prometheus") is not None
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
# A gateway whose store is silent answers after the store's timeout of two seconds.
_SCRAPED_EVERY_S = 3
# What Grafana puts for `$__rate_interval`: four scrapes.
RATE_INTERVAL = "12s"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """Its HTTP API. What it answers is JSON, untyped."""

    port: int

    async def ask(self, path: str, **query: str) -> Any:
        """The data of a call that succeeded."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        answer = await asyncio.to_thread(_get, url)
        assert answer["status"] == "success", answer
        return answer["data"]

    async def has_numbers(self, expr: str) -> bool:
        """Whether it had any value that is a number, within the last minutes."""
        now = float((await self.ask("query", query="time()"))["result"][1])
        found = await self.ask("query_range", query=expr, start=str(now - 300), end=str(now), step="1")
        return any(not math.isnan(float(value)) for series in found["result"] for _, value in series["values"])

    async def is_scraped(self) -> bool:
        targets = (await self.ask("targets"))["activeTargets"]
        return bool(targets) and all(target["health"] == "up" for target in targets)

    async def firing(self) -> set[str]:
        alerts = (await self.ask("alerts"))["alerts"]
        return {alert["labels"]["alertname"] for alert in alerts if alert["state"] == "firing"}


def _get(url: str) -> Any:
    # A local address of our own.
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


@contextlib.asynccontextmanager
async def watching(admin: str, directory: Path) -> AsyncIterator[Prometheus]:
    """Prometheus with the rules, as they are but for their patience, once it has scraped the gateway."""
    port = _free_port()
    (directory / "rules.yml").write_text(yaml.safe_dump(_impatient()))
    config = {
        "global": {"scrape_interval": f"{_SCRAPED_EVERY_S}s", "evaluation_interval": "1s", "scrape_timeout": "3s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": [{"job_name": "fencegate", "static_configs": [{"targets": [admin]}]}],
    }
    (directory / "prometheus.yml").write_text(yaml.safe_dump(config))
    with (directory / "prometheus.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *("prometheus", f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/tsdb"),
            f"--web.listen-address=127.0.0.1:{port}",
            stdout=log,
            stderr=log,
        )
    prometheus = Prometheus(port)
    try:
        await until(lambda: _scraped(prometheus), within_s=STARTS_WITHIN_S)
        yield prometheus
    finally:
        process.terminate()
        await process.wait()


def _impatient() -> dict[str, Any]:
    rules: dict[str, Any] = yaml.safe_load(RULES.read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            rule.pop("for", None)
    return rules


async def _scraped(prometheus: Prometheus) -> bool:
    try:
        return await prometheus.is_scraped()
    except OSError:
        await asyncio.sleep(0.1)
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number: int = free.getsockname()[1]
        return number
