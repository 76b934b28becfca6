"""A gateway whose policies and principals the test writes anew while something lasts."""

import contextlib
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from gateway.log import Log
from gateway.policy.reload import PolicyHolder, Reloaded
from gateway.serve.assignment import Assignment
from gateway.serve.inforce import NOBODY_LOOKS
from gateway.serve.worker import proxy
from tests.served import served
from tests.stack import ANYWHERE


def principal(name: str, *, key: str | None = None, resources: str = '["**"]', tenant: str = "default") -> str:
    """One line of `principals.yaml`; the key is the name, if none is given. With a blank in it, it is two keys."""
    keys = ", ".join(f'"sha256:{hashlib.sha256(one.encode()).hexdigest()}"' for one in (key or name).split())
    return f"  - {{name: {name}, key: [{keys}], tenant: {tenant}, takeover: true, resources: {resources}}}\n"


@dataclass
class Reloading:
    """Where it listens, what it logs, and its files."""

    port: int
    log: Path
    directory: Path
    holder: PolicyHolder

    def __post_init__(self) -> None:
        self.known = self.holder.current

    def principals(self, *lines: str) -> None:
        """These are in force, from now on."""
        (self.directory / "principals.yaml").write_text("principals:\n" + "".join(lines))
        assert isinstance(self.holder.reload(), Reloaded)

    def fall_silent(self) -> None:
        """Nobody can tell any more what is in force, until `speak`."""
        self.holder.current.suspend()
        self.known, self.holder.current = self.holder.current, self.holder.current.refusing(NOBODY_LOOKS)

    def speak(self) -> None:
        self.known.resume()
        self.holder.current = self.known

    def policy(self, text: str) -> None:
        (self.directory / "policy.yaml").write_text(text)
        assert isinstance(self.holder.reload(), Reloaded)


@contextlib.asynccontextmanager
async def reloading(store_url: str, directory: Path, policy: str, *lines: str) -> AsyncIterator[Reloading]:
    """With this policy, and these principals; without any, anybody may call."""
    policies, log = directory / "policies", directory / "gateway.log"
    policies.mkdir()
    (policies / "policy.yaml").write_text(policy)
    if lines:
        (policies / "principals.yaml").write_text("principals:\n" + "".join(lines))
    holder = PolicyHolder.open(policies, {})
    assert isinstance(holder, PolicyHolder), holder
    assignment = Assignment(ANYWHERE, "", store_url, 2.0, 5.0, "json", "info")
    with log.open("ab") as written:
        async with (
            proxy(assignment, lambda: holder.current, Log("json", descriptor=written.fileno())) as server,
            served(server) as port,
        ):
            yield Reloading(port, log, policies, holder)
