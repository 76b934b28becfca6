"""One agent: it takes leases, writes, reads, renews, repeats, falls silent, and now and then goes on with what it had
lost."""

import asyncio
import contextlib
import json
import random
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.history.history import wants_key
from tests.history.log import Log
from tests.raw import RawAnswer, RawClient, request

_THINKS_S = 0.15
# Longer than any wait at a gateway.
_WAITS_S = 9.0
# Of a hundred requests so many are left by their agent before they are answered, within so many seconds.
_LEAVES, _LEAVES_WITHIN_S = 0.08, 0.4
_TTL_S = (1, 2, 5, 20)
# Whoever is told that its resource is lost mostly lets go of it.
_LOST, _HEEDS = frozenset({"stale-epoch", "holder-mismatch", "lease-lost", "lease-expired", "store-regressed"}), 0.7
_BODY_PIECES = 3
# A body that comes slowly takes up to this for each piece.
_PIECE_TAKES_S = 0.8


@dataclass(frozen=True, slots=True)
class Proof:
    """What a write is sent under."""

    resource: str
    epoch: int
    token: str
    holder: str | None = None

    @property
    def fields(self) -> tuple[str, ...]:
        return (f"Fencing-Token: {self.token}", *((f"Fencing-Holder: {self.holder}",) if self.holder else ()))


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done once: whoever repeats it says the same."""

    key: str
    body: bytes


@dataclass
class World:
    """What the agents of one process share: how they live, and the actions that any of them may go on with."""

    ports: Sequence[int]
    resources: Sequence[str]
    log: Log
    dribbled: float
    begun: dict[str, deque[Action]] = field(default_factory=lambda: defaultdict(lambda: deque(maxlen=8)))


class Agent:
    """`name` is its own among all agents that ever were."""

    def __init__(self, name: str, world: World, chance: random.Random) -> None:
        self._name = name
        self._world = world
        self._chance = chance
        self._count = 0
        self._lost: deque[Proof] = deque(maxlen=6)

    async def live(self) -> None:
        """Until it is cancelled."""
        while True:
            resource = self._chance.choice(self._world.resources)
            proof = self._claim(resource) if resource.startswith("bare/") else await self._take(resource)
            if proof is None:
                await self._think()
                continue
            for _ in range(self._chance.randrange(1, 10)):
                answer = await self._step(proof)
                if answer is not None and answer.decision in _LOST and self._chance.random() < _HEEDS:
                    break
                await self._think()
            self._lost.append(proof)
            if proof.holder is None and self._chance.random() < 0.4:
                await self._tell("release", proof)

    async def _step(self, proof: Proof) -> RawAnswer | None:
        """What it was told under this proof, if anything."""
        chance = self._chance.random()
        if chance < 0.08:
            return await self._ask("read", proof.resource, request("GET", f"/{proof.resource}", *self._named()))
        if chance < 0.18 and proof.holder is None:
            return await self._tell("renew", proof)
        # Whoever lost a resource may not have heard of it.
        under = self._chance.choice(self._lost) if chance < 0.28 and self._lost else proof
        dribbles = self._chance.random() < self._world.dribbled and not wants_key(under.resource)
        answer = await (self._dribble(under) if dribbles else self._write(under))
        return answer if under is proof else None

    async def _think(self) -> None:
        await asyncio.sleep(self._chance.uniform(0, _THINKS_S))

    def _claim(self, resource: str) -> Proof:
        """An epoch that another system is said to have granted: mostly the newest."""
        epoch = int(time.monotonic() * 1000)
        return Proof(resource, epoch, str(epoch), self._name)

    async def _take(self, resource: str) -> Proof | None:
        asked = {
            "resource": resource,
            "holder": self._name,
            "ttl_s": self._chance.choice(_TTL_S),
            "takeover": self._chance.random() < 0.4,
        }
        body = json.dumps(asked).encode()
        answer = await self._ask("grant", resource, request("POST", "/-/fence/leases", *self._named(), body=body))
        if answer is None or answer.status != 201:
            return None
        lease = json.loads(answer.body)
        return Proof(resource, int(lease["epoch"]), lease["token"])

    async def _tell(self, what: str, proof: Proof) -> RawAnswer | None:
        body = json.dumps({"resource": proof.resource}).encode()
        data = request("POST", f"/-/fence/leases/{what}", *self._named(), *proof.fields, body=body)
        return await self._ask(what, proof.resource, data, epoch=proof.epoch)

    async def _write(self, proof: Proof) -> RawAnswer | None:
        """A new action, one that was begun by this agent or another, or one without a key."""
        begun = self._world.begun[proof.resource]
        chance = self._chance.random()
        if chance < 0.3 and not wants_key(proof.resource):
            return await self._put(proof, None)
        if chance < 0.6 and begun:
            action = self._chance.choice(begun)
        else:
            action = Action(f"{self._name}-{self._count}", json.dumps({"of": self._name, "n": self._count}).encode())
            begun.append(action)
        return await self._put(proof, action)

    async def _put(self, proof: Proof, action: Action | None) -> RawAnswer | None:
        keyed = () if action is None else (f"Idempotency-Key: {action.key}", f"X-Action: {action.key}")
        fields = *self._named(), *proof.fields, *keyed, "Content-Type: application/json"
        body = action.body if action is not None else b"{}"
        data = request("PUT", f"/{proof.resource}", *fields, body=body)
        return await self._ask("write", proof.resource, data, epoch=proof.epoch, key=action.key if action else None)

    async def _dribble(self, proof: Proof) -> RawAnswer | None:
        """A write whose body comes in chunks, slowly: it is admitted before it is here."""
        fields = *self._named(), *proof.fields, "Content-Type: text/plain", "Transfer-Encoding: chunked"
        head = request("PUT", f"/{proof.resource}", *fields)
        return await self._ask(
            "write", proof.resource, head, *[b"4\r\nmore\r\n"] * _BODY_PIECES, b"0\r\n\r\n", epoch=proof.epoch
        )

    def _named(self) -> tuple[str, ...]:
        """The next request's name."""
        self._count += 1
        return (f"X-Attempt: {self._name}-{self._count}",)

    async def _ask(
        self, kind: str, resource: str, *pieces: bytes, epoch: int | None = None, key: str | None = None
    ) -> RawAnswer | None:
        """Its answer; None if none came, or it was not waited for."""
        id = f"{self._name}-{self._count}"
        self._world.log.note("asked", id=id, kind=kind, resource=resource, epoch=epoch, key=key)
        leaves = self._chance.random() < _LEAVES
        patience_s = self._chance.uniform(0, _LEAVES_WITHIN_S) if leaves else _WAITS_S
        try:
            async with asyncio.timeout(patience_s):
                answer = await self._exchange(pieces)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            self._world.log.note("lost", id=id, why=str(error) or type(error).__name__)
            return None
        granted = int(json.loads(answer.body)["epoch"]) if kind == "grant" and answer.status == 201 else None
        told = {"decision": answer.decision, "outcome": answer.value("Fencing-Outcome"), "granted": granted}
        told["intent"] = _state_told(answer)
        self._world.log.note("told", id=id, status=answer.status, **told)
        return answer

    async def _exchange(self, pieces: Sequence[bytes]) -> RawAnswer:
        async with RawClient(self._chance.choice(self._world.ports)) as client:
            first, *more = pieces
            await client.send(first)
            with contextlib.suppress(ConnectionError):
                for piece in more:
                    await asyncio.sleep(self._chance.uniform(0, _PIECE_TAKES_S))
                    await client.send(piece)
            return await client.answer(first.split(b" ", 1)[0].decode())


def _state_told(answer: RawAnswer) -> str | None:
    """What a refusal says has become of the intent, where it names one."""
    if (answer.value("Content-Type") or "").partition(";")[0] != "application/problem+json":
        return None
    intent = json.loads(answer.body).get("intent")
    return intent.get("state") if isinstance(intent, dict) else None
