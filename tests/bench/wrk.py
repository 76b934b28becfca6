"""Load by wrk: as many requests as so many connections carry, one after the other on each."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.bench.process import Failed

_SCRIPT = Path(__file__).parent / "load.lua"
_UNITS_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
# What wrk may take beyond its time, on a machine that has too much to do.
_PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Shape:
    """What is asked. `keyed` writes are intents, each a new one; a `write` has no key."""

    kind: Literal["keyed", "write", "read"] = "keyed"
    path: str = "/reports"
    resources: int = 1_000
    connections: int = 32


@dataclass(frozen=True, slots=True)
class Report:
    """What wrk measured. `failed`: answers that were no success, and connections that broke."""

    requests: int
    rate: float
    p50_ms: float
    p99_ms: float
    failed: int


def load(port: int, shape: Shape, seconds: int) -> Report:
    """Put a server on this port under load. Raises Failed if wrk cannot begin."""
    command = ["wrk", "--threads", "1", "--connections", str(shape.connections), "--duration", f"{seconds}s"]
    script = ["--latency", "--script", str(_SCRIPT), f"http://127.0.0.1:{port}"]
    asked = ["--", shape.kind, shape.path, str(shape.resources)]
    run = subprocess.run(
        [*command, *script, *asked], check=False, capture_output=True, text=True, timeout=seconds + _PATIENCE_S
    )
    if run.returncode:
        raise Failed(f"wrk failed: {run.stdout}{run.stderr}")
    return read_report(run.stdout)


def read_report(text: str) -> Report:
    """Read what wrk prints. Raises ValueError where it is something else."""
    requests = re.search(r"^\s*(\d+) requests in ", text, re.MULTILINE)
    rate = re.search(r"^Requests/sec:\s+([\d.]+)", text, re.MULTILINE)
    if requests is None or rate is None:
        raise ValueError(f"this is no report of wrk: {text!r}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    broken = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    failed = sum(int(count) for found in (refused, broken) if found for count in found.groups())
    return Report(int(requests[1]), float(rate[1]), _latency_ms(text, 50), _latency_ms(text, 99), failed)


def _latency_ms(text: str, percent: int) -> float:
    found = re.search(rf"^\s*{percent}%\s+([\d.]+)(us|ms|s|m)\s*$", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"wrk says nothing of the {percent}th percentile: {text!r}")
    return float(found[1]) * _UNITS_MS[found[2]]
