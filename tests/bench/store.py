"""A store of the benchmark's own: Redis without persistence, for the gateway and for the yardstick alike."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.bench.process import free_port, serving

_COPY = """
local fields = redis.call('HGETALL', KEYS[1])
for at = 1, #ARGV do redis.call('HSET', ARGV[at], unpack(fields)) end
"""
_EMPTY = """
local at = '0'
repeat
  local page = redis.call('SCAN', at, 'COUNT', 1000)
  at = page[1]
  for _, key in ipairs(page[2]) do
    local is_fence, rest = string.find(key, '^fg:{%x%x%x}:f:'), string.match(key, '}:(%a+)$')
    if not (is_fence or rest == 'store' or rest == 'marks' or rest == 'origin') then
      redis.call('UNLINK', key)
    end
  end
until at == '0'
"""
_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Store:
    """`client` is untyped: redis-py's replies are unions."""

    port: int
    pid: int
    client: Any

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def empty(self) -> None:
        """Of what earlier trials left. By the rest a living gateway would know that a store was emptied."""
        self.client.eval(_EMPTY, 0)

    def calls(self, *commands: str) -> int:
        """How often these commands were executed, by clients and by scripts."""
        counted = self.client.info("commandstats")
        return sum(counted.get(f"cmdstat_{command}", {"calls": 0})["calls"] for command in commands)

    def used_bytes(self) -> int:
        return int(self.client.info("memory")["used_memory"])

    def fill(self, resource: ResourceKey, copies: Sequence[ResourceKey]) -> None:
        """Give every one of `copies` the fence record that `resource` has."""
        copy = self.client.register_script(_COPY)
        for first in range(0, len(copies), _AT_ONCE):
            some = copies[first : first + _AT_ONCE]
            copy([resource_keys(resource)[0]], [resource_keys(name)[0] for name in some])


@contextlib.contextmanager
def store(directory: Path) -> Iterator[Store]:
    port = free_port()
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(directory)]
    unkept = ["--save", "", "--appendonly", "no"]
    log = directory / f"store-{port}.log"
    with serving([*command, *unkept], log, port) as pid, redis.Redis(port=port) as client:
        yield Store(port, pid, client)
