"""What stands beside the gateways while they are measured: the API, the yardstick and their store."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.gateway import Setting, gateway, policies
from tests.bench.nginx import Yardstick, upstream, yardstick
from tests.bench.store import Store, store
from tests.bench.subject import Subject


@dataclass(frozen=True, slots=True)
class Stage:
    """All on this machine's loopback; `directory` holds their files."""

    directory: Path
    store: Store
    api: Subject
    yardstick: Yardstick

    def gateway(
        self, *, workers: int = 1, rules: int = 1, store: Store | None = None, options: tuple[str, ...] = ()
    ) -> contextlib.AbstractContextManager[Subject]:
        """A gateway, on the yardstick's store where no other is named."""
        setting = Setting(policies(self.api.port, rules=rules), workers, options)
        return gateway("the gateway", self.directory, self.store if store is None else store, setting)


@contextlib.contextmanager
def stage(directory: Path) -> Iterator[Stage]:
    """Everything ends with the block."""
    with store(directory) as kept, upstream(directory, kept) as api, yardstick(directory, api, kept) as beside:
        yield Stage(directory, kept, api, beside)
