"""A gateway in front of a judging upstream: in this process, or as `fencegate serve` in processes of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from gateway.core.address import Address
from gateway.log import Log
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.serve.assignment import Assignment
from gateway.serve.worker import proxy
from tests.fuzz.leases import Leases
from tests.fuzz.oracle import Oracle
from tests.fuzz.policies import POLICIES
from tests.fuzz.run import Run
from tests.fuzz.upstream import JudgingUpstream
from tests.served import served


@contextlib.asynccontextmanager
async def judged(directory: Path) -> AsyncIterator[Oracle]:
    """The upstream, and the policies in `directory` that name it."""
    oracle = Oracle(Leases())
    server = await asyncio.get_running_loop().create_server(lambda: JudgingUpstream(oracle), "127.0.0.1", 0)
    policies = directory / "policies"
    policies.mkdir()
    for name, text in POLICIES.items():
        (policies / f"{name}.yaml").write_text(text.format(port=server.sockets[0].getsockname()[1]))
    try:
        yield oracle
    finally:
        server.close()


async def fuzzed(seed: int, port: int, oracle: Oracle, numbers: range) -> Run:
    """The run, after its last conversation."""
    run = Run(seed, port, oracle)
    await run.begin()
    await run.go(numbers)
    return run


@contextlib.asynccontextmanager
async def in_process(store_url: str, directory: Path) -> AsyncIterator[int]:
    """The port of a gateway in this process, over the policies in `directory`."""
    rules = load_policies(directory / "policies", {})
    assert isinstance(rules, RuleSet), [str(finding) for finding in rules]
    assignment = Assignment(Address("0.0.0.0", 0), "", store_url, 2.0, 5.0, "json", "info")
    with (directory / "gateway.log").open("ab") as lines:
        log = Log("json", descriptor=lines.fileno())
        async with proxy(assignment, lambda: rules, log) as server, served(server) as port:
            yield port
