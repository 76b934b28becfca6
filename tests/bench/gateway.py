"""Gateways in processes of their own, as an operator starts them: `fencegate serve` with its defaults."""

import contextlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.process import children, free_port, serving
from tests.bench.store import Store
from tests.bench.subject import Subject

# Each path has an upstream and one rule of its own; the first is what the yardstick does too.
_POLICY = """
upstream: {name}
url: http://127.0.0.1:{port}
mount: {{path: /{name}}}
writes:
  - name: write
    match: POST /{name}/{{id}}
    resource: {name}/{{path.id}}
{terms}
"""
_TERMS = {
    "reports": "    authority: header\n    intent: {mode: required}",
    "plain": "    authority: header\n    intent: {mode: 'off'}",
    "parallel": "    authority: header\n    intent: {mode: required}\n    fence: {concurrency: parallel}",
    "leased": "    authority: lease",
}
_FURTHER_RULE = """
  - name: further-{number}
    match: POST /reports/{{id}}/further-{number}
    resource: reports/{{path.id}}
    authority: header
    intent: {{mode: required}}
"""


def policies(port: int, *, rules: int = 1) -> dict[str, str]:
    """Policy files by name, in front of an upstream; `/reports` has so many rules."""
    texts = {name: _POLICY.format(name=name, port=port, terms=terms) for name, terms in _TERMS.items()}
    texts["reports"] += "".join(_FURTHER_RULE.format(number=number) for number in range(1, rules))
    return texts


@dataclass(frozen=True, slots=True)
class Setting:
    """How a gateway is started."""

    policies: Mapping[str, str] = field(repr=False)
    workers: int = 1
    options: tuple[str, ...] = ()


@contextlib.contextmanager
def gateway(name: str, directory: Path, store: Store, setting: Setting) -> Iterator[Subject]:
    """A running gateway, once all of its workers listen."""
    port, admin = free_port(), free_port()
    own = directory / f"gateway-{port}"
    written = own / "policies"
    written.mkdir(parents=True)
    for upstream, text in setting.policies.items():
        (written / f"{upstream}.yaml").write_text(text)
    command = [
        *(sys.executable, "-m", "gateway", "serve", "--policies", str(written)),
        *("--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"),
        # A store that keeps nothing, as the yardstick's.
        *("--store", store.url, "--allow-unsafe-store", "--data-dir", str(own / "data")),
        *("--workers", str(setting.workers), "--log-format", "json", *setting.options),
    ]
    log = own / "log"
    with serving(command, log, port, listeners=setting.workers) as parent:
        yield Subject(name, port, children(parent), store, log, admin=admin)
