"""What is put under load."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.store import Store


@dataclass(frozen=True, slots=True)
class Subject:
    """A server: its port, the processes that do its work, and the store that works for it.

    `admin`: where operators ask, if anywhere. `keeps`: what is in its store stays there from one load to the next.
    """

    name: str
    port: int
    pids: tuple[int, ...]
    store: Store
    log: Path | None = field(default=None, compare=False)
    keeps: bool = False
    admin: int = 0
