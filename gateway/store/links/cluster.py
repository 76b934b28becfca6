"""A connection to each primary of a cluster. Whatever its nodes say of moved slots ends here: no caller hears of it."""

import asyncio
import itertools
from collections.abc import Iterable, Sequence

from redis.asyncio.connection import AbstractConnection

from gateway.core.address import Address
from gateway.core.faults import StoreUnavailable
from gateway.ongoing import ongoing, stop
from gateway.store.links.connection import ask, connector_to
from gateway.store.links.link import Call, Link, OnConnected, Reply, hang_up, pack
from gateway.store.links.slots import Claim, claims, owners, slot_of
from gateway.store.links.url import Sharded

# The nodes say themselves that a slot has moved; this is for those that cannot.
_LOOK_EVERY_S = 1.0
# While a node is away or a slot has moved. A failover takes the cluster a second and more.
_LOOK_AGAIN_S = 0.1
# A node that neither answers nor closes anything must not keep those that know more waiting.
_ANSWERS_WITHIN_S = 0.5
# A node that slots are being moved to has none in the table yet, and one that has lost all of them is soon forgotten.
_FORGOTTEN_AFTER_S = 10.0
_ASKING = pack("ASKING")
_ASK_SLOTS = pack("CLUSTER", "SLOTS")
_ASK_NODES = pack("CLUSTER", "NODES")
# Between two looks at a cluster that nobody has told of yet.
_TICK_S = 0.05


class _Unheard:
    """In the place of a caller of ASKING: its answer is for nobody, and it goes where the command after it goes."""

    def __init__(self, after: Call) -> None:
        self._after = after

    def done(self) -> bool:
        return self._after.answer.done()

    def set_result(self, result: Reply, /) -> None:
        """Nobody waits."""

    def set_exception(self, exception: Exception, /) -> None:
        """Nobody waits: what is wrong is told of the command after it."""


class Node(Link):
    """One node. What it says of others is told to its cluster."""

    def __init__(self, cluster: "Cluster", address: Address, sharded: Sharded, timeout_s: float) -> None:
        super().__init__(connector_to(address, sharded.options, timeout_s), timeout_s)
        self.address = address
        self.name = str(address)
        self.named_at = asyncio.get_running_loop().time()
        self._cluster = cluster

    def on_refused(self, call: Call, why: str) -> None:
        if why.startswith(("MOVED ", "ASK ")):
            self.breaks += 1
            self._cluster.redirect(self, call, why)
        else:
            super().on_refused(call, why)

    async def told(self) -> list[Claim]:
        """What the node says of all slots; nothing where it does not answer soon."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S):
                slots, nodes = await asyncio.gather(self.send(_ASK_SLOTS), self.send(_ASK_NODES))
        except (StoreUnavailable, TimeoutError):
            return []
        return claims(slots, nodes, self.address)


class Cluster:
    """The primaries of one cluster, as a `Topology`. Nodes may come and go."""

    def __init__(self, sharded: Sharded, timeout_s: float) -> None:
        self.on_connected: OnConnected | None = None
        self._sharded = sharded
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._nodes: dict[Address, Node] = {}
        self._table: list[Node] = []
        self._servers: tuple[Node, ...] = ()
        # What the nodes said of it when the table was made; nothing once one of them has corrected it.
        self._told: list[Claim] = []
        self._in_doubt = False
        self._watching: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[None]] = set()
        self._why = "no node was asked yet"
        self._turn = 0

    @property
    def healthy(self) -> bool:
        return any(node.healthy for node in self._servers)

    @property
    def servers(self) -> Sequence[Node]:
        return self._servers

    async def open(self) -> None:
        gives_up_at = self._loop.time() + self._timeout_s
        while not self._servers and self._loop.time() < gives_up_at:
            await self._look()
            await asyncio.sleep(0 if self._servers else _TICK_S)
        if not self._servers:
            await self.close()
            raise StoreUnavailable(f"no node of the cluster tells where its keys are: {self._why}")
        self._watching = ongoing("watching the cluster", self._watch)

    async def close(self) -> None:
        if self._watching is not None:
            await stop(self._watching)
        await asyncio.gather(*self._leaving, *(node.close() for node in self._nodes.values()))

    def at(self, key: str, /) -> Link:
        return self._table[slot_of(key)]

    async def call(self, *arguments: str | bytes | int) -> Reply:
        key = arguments[1]
        assert isinstance(key, str)
        return await self.at(key).send(pack(*arguments))

    async def connect(self) -> AbstractConnection:
        """A connection to any of the primaries, another one each time: what is published reaches all of them."""
        self._turn += 1
        addresses = [node.address for node in self._servers] or list(self._sharded.seeds)
        return await connector_to(addresses[self._turn % len(addresses)], self._sharded.options, self._timeout_s)()

    def doubt(self) -> None:
        """Look at the table soon."""
        self._in_doubt = True

    def redirect(self, by: Node, call: Call, why: str) -> None:
        """Hand a call over to the node that has its slot, or is getting it (ASK, which holds for this call only)."""
        word, slot, endpoint = why.split(" ")
        host, _, port = endpoint.rpartition(":")
        node = self._node(Address(host.strip("[]") or by.address.host, int(port)))
        if word == "ASK":
            node.take_over([Call(_ASKING, call.deadline, _Unheard(call)), call])
            return
        self._table[int(slot)] = node
        self._told = []
        self.doubt()
        if call.why is None:
            call.why = why
            node.take_over([call])
        else:
            # Two nodes that name each other are not asked in a tight loop.
            node.put_off(call, why)

    def _node(self, address: Address) -> Node:
        node = self._nodes.get(address)
        if node is None:
            node = self._nodes[address] = Node(self, address, self._sharded, self._timeout_s)
            node.on_connected = self.on_connected
            node.start()
        node.named_at = self._loop.time()
        return node

    async def _watch(self) -> None:
        looked_at = self._loop.time()
        while True:
            await asyncio.sleep(_LOOK_AGAIN_S)
            is_whole = all(node.healthy for node in self._servers)
            if self._in_doubt or not is_whole or self._loop.time() - looked_at >= _LOOK_EVERY_S:
                self._in_doubt = False
                await self._look()
                looked_at = self._loop.time()

    async def _look(self) -> None:
        """Ask the nodes that answer, or else those that the URL names, and go by what they say."""
        told = await self._told_by_nodes() or await self._told_by_seeds()
        if told and told != self._told:
            self._told = told
            self._take(owners(told))
        self._forget()

    async def _told_by_nodes(self) -> list[Claim]:
        told = await asyncio.gather(*(node.told() for node in self._nodes.values() if node.connected))
        return list(itertools.chain.from_iterable(told))

    async def _told_by_seeds(self) -> list[Claim]:
        for seed in self._sharded.seeds:
            connection = None
            try:
                async with asyncio.timeout(self._timeout_s):
                    connection = await connector_to(seed, self._sharded.options, self._timeout_s)()
                    slots, nodes = await ask(connection, "CLUSTER", "SLOTS"), await ask(connection, "CLUSTER", "NODES")
                if told := claims(slots, nodes, seed):
                    return told
                self._why = f"{seed} knows of no slots"
            except Exception as error:  # noqa: BLE001  # one node that is away, whatever it was, is what others are for
                self._why = f"{seed}: {error or type(error).__name__}"
            finally:
                if connection is not None:
                    await hang_up(connection)
        return []

    def _take(self, found: list[Address | None]) -> None:
        """Go by this table from now on. Who waits at a node that has no slots any more waits at their new owner."""
        before = self._table
        # By object: to hash so many addresses would take ten times as long.
        named = {id(address): address for address in found}
        nodes = {key: self._node(address) for key, address in named.items() if address is not None}
        # A slot that nobody has: any node says so, and the call is put off.
        somebody = next(iter(nodes.values()))
        self._table = [nodes.get(id(address), somebody) for address in found]
        self._servers = tuple(sorted(set(self._table), key=lambda node: node.name))
        for node, heir in dict(zip(before, self._table, strict=False)).items():
            if node not in self._servers:
                heir.take_over(_callers(node.hand_over()))

    def _forget(self) -> None:
        """Let nodes go that have no slots and that no other node has named for a while."""
        forgotten_at = self._loop.time() - _FORGOTTEN_AFTER_S
        for node in set(self._nodes.values()).difference(self._servers):
            if node.named_at < forgotten_at and self._servers:
                self._servers[0].take_over(_callers(node.hand_over()))
                del self._nodes[node.address]
                self._let_go(node)

    def _let_go(self, node: Node) -> None:
        task = self._loop.create_task(node.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


def _callers(calls: Iterable[Call]) -> list[Call]:
    """Without what was sent for nobody: another node says anew what it wants first."""
    return [call for call in calls if not isinstance(call.answer, _Unheard)]
