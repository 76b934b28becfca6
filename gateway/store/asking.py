"""One gateway's side of the connection to its store: where a script is run, how long it took, what the clock says."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from gateway.core.faults import PartUnavailable, StoreUnavailable
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, ResourceKey
from gateway.ongoing import stop
from gateway.store.answer import Answer, number, read_answer, text
from gateway.store.clock import StoreClock
from gateway.store.durable import Durable
from gateway.store.keys import probe, resource_keys
from gateway.store.links.topology import Topology, places
from gateway.store.loss.acknowledged import Acknowledged
from gateway.store.loss.recent import Recent
from gateway.store.script import Script
from gateway.store.wake import Wake

# Whoever looks at the store's keys should not find this one.
_PROBE_MS = 1000
# How often a call is made that was too late by the store's clock. Once a step is known there is no second time.
_IN_TIME = 3

OnCall = Callable[[str, float], None]


class Asking:
    """What every question to the store goes through. Every call raises StoreUnavailable.

    `on_call` is told the name of each script that answered, and how many seconds that took.
    """

    def __init__(self, link: Topology, wake: Wake, gateway: str, clock: StoreClock) -> None:
        self.link = link
        self.gateway = gateway
        self.on_call: OnCall = _unobserved
        self.recent: Recent | None = None
        """What was acknowledged of late, where somebody looks whether the store still has it."""
        self.durable: Durable | None = None
        """Where scripts are run whose answer is acted on, if that has to be safer than the store's process."""
        self.answers_within_s = 2.0
        """When a call fails that was not answered."""
        self.marking: asyncio.Task[None] | None = None
        """Ends with this store."""
        self._wake = wake
        self._clock = clock
        self._acknowledged = Acknowledged()

    @property
    def healthy(self) -> bool:
        """Whether the store answered the last time that it was asked, and is connected."""
        return self.link.healthy

    def expected_ms(self) -> int:
        """What the store's clock should say now, in milliseconds since 1970, unless it jumped."""
        return self._clock.expected_ms()

    def surely_since_s(self, store_ms: int) -> float:
        """How much time has passed at least since the store's clock said that, also where it jumped."""
        return self._clock.surely_since_s(store_ms)

    def expect(self, recent: Recent) -> None:
        """From now on the store must have what it acknowledges, or has lost it."""
        self.recent, self._acknowledged = recent, Acknowledged(recent)

    def began(self, resource: ResourceKey, era: int) -> None:
        """An operator has forgotten the resource's epochs: the store is not expected to have them."""
        self._acknowledged.began(resource, era)

    def has_admitted(self, admitted: Admitted, ttl_s: float) -> None:
        """The store has acknowledged it, with a ticket that lives for so long."""
        if self.recent is not None:
            self.recent.admitted(admitted, self._clock.read(), ttl_s)

    def has_parked(self, record: IntentRecord, kept_s: float) -> None:
        """The store has acknowledged that it was taken, and keeps the record for so long if it ends."""
        if self.recent is not None:
            self.recent.parked(record.id, record.attempts, record.updated_at_ms, self._clock.read() + kept_s)

    def has_denied(self, record: IntentRecord, kept_s: float) -> None:
        """The store has acknowledged that somebody said no, and keeps the record for so long."""
        if self.recent is not None:
            self.recent.denied(record.id, record.attempts, self._clock.read() + kept_s)

    async def close(self) -> None:
        if self.marking is not None:
            await stop(self.marking)
        await self._wake.close()
        if self.durable is not None:
            await self.durable.close()
        await self.link.close()

    async def ping(self) -> None:
        """Whether a write could be recorded now, on each server: one may answer and have no room, or be a replica.

        Raises PartUnavailable where it is so of some of them only.
        """
        asked = places(self.link)
        told = await asyncio.gather(*map(self._probe, asked))
        if away := [why for why in told if why is not None]:
            raise (PartUnavailable if len(away) < len(asked) else StoreUnavailable)("; ".join(away))

    async def _probe(self, place: str) -> str | None:
        """Why the server of this shard cannot be written to; None where it can."""
        key = probe(place)
        try:
            await self.link.call("SET", key, self.gateway, "PX", _PROBE_MS)
        except StoreUnavailable as away:
            name = self.link.at(key).name
            return f"{name}: {away}" if name else str(away)
        return None

    def _has_ended(self, admitted: Admitted, answer: Answer) -> None:
        """The store has acknowledged that, by the answer of `settle.lua`."""
        if self.recent is not None:
            revision, outcome, _ = answer.rest
            self.recent.settled(admitted, text(outcome), number(revision), self._clock.read())

    async def run(self, script: Script, keys: Sequence[str], *arguments: str | bytes) -> Answer:
        """One script's answer; its time is told to `on_call`."""
        asked = self._clock.read()
        servers = self.link if self.durable is None or not script.is_acted_on else self.durable
        answer = read_answer(await script.run(servers, keys, arguments))
        answered = self._clock.read()
        self._clock.learn(answer.now_ms, asked, answered)
        self.on_call(script.name, answered - asked)
        return answer

    def asked_twice(self, resource: ResourceKey) -> Callable[[], bool]:
        """Tells whether what is asked about the resource from now on, to be acted on, went out over two connections:
        one of them may bring it to the store behind its end.
        """
        key = resource_keys(resource)[0]
        link = self.link.at(key) if self.durable is None else self.durable.link_at(key)
        breaks = link.breaks
        return lambda: link.breaks != breaks

    def _ask(self, script: Script, resource: ResourceKey, *arguments: str | bytes) -> Coroutine[None, None, Answer]:
        return self.run(script, resource_keys(resource), *arguments)

    async def _ask_in_era(
        self, script: Script, resource: ResourceKey, spelled: Callable[[], Sequence[str | bytes]]
    ) -> Answer:
        """Of a script that compares what this gateway knows of a resource's epochs: it is asked again, with arguments
        spelled anew, where an operator has forgotten those meanwhile.
        """
        known = self._acknowledged
        while True:
            era = known.era(resource)
            answer = await self._ask(script, resource, *spelled())
            if era:
                answer = answer._replace(era=era)
            if answer.word != "other-era":
                return answer
            if lost := known.met(answer, resource):
                return lost

    async def _ask_in_time(
        self,
        script: Script,
        resource: ResourceKey,
        spelled: Callable[[], Sequence[str | bytes]],
        *,
        looks_again: bool = False,
    ) -> Answer:
        """As `_ask_in_era`, of a script that does nothing once its call was given up. `looks_again`: its asker does,
        at what may have changed meanwhile, where the answer took long.
        """
        return await self._in_time(lambda: self._ask_in_era(script, resource, spelled), looks_again=looks_again)

    async def _once_over(self, told: Answer, look: Callable[[], Coroutine[None, None, Answer]]) -> Answer:
        """The answer to a grant that was asked over two connections, and told over the second: by the first one it
        would be granted once more, and evict who came meanwhile. So it is as `look` finds it once that can do nothing
        any more. `look` asks whether it was granted, and grants nothing, however often it comes to the store.
        """
        over_ms = self.given_up_ms()
        for _ in range(_IN_TIME):
            await asyncio.sleep(max(over_ms + 1 - self._clock.heard_ms(), 1) / 1000)
            found = await look()
            if found.now_ms > over_ms:
                break
        else:
            raise StoreUnavailable("the store's clock was set back while a lease was granted")
        if found.word == "granted":
            # The first answer tells whom it was taken from.
            return told if found.rest[0] == told.rest[0] else found
        if told.word == "granted":
            raise StoreUnavailable("the lease was granted, and has ended before that could be told")
        return told

    async def run_in_time(self, script: Script, keys: Sequence[str], *arguments: str | bytes) -> Answer:
        """As `run`, of such a script: its last argument is when the call has been given up."""
        return await self._in_time(lambda: self.run(script, keys, *arguments, str(self.given_up_ms())))

    async def _in_time(self, ask: Callable[[], Coroutine[None, None, Answer]], *, looks_again: bool = False) -> Answer:
        """Where it was late and answered in time all the same, the store's clock has stepped: that is known by then."""
        for _ in range(_IN_TIME):
            asked = self._clock.read()
            answer = await ask()
            if answer.word != "late":
                return answer
            if not looks_again and self._clock.read() - asked > self.answers_within_s:
                break
        raise StoreUnavailable("it came to the store later than it was asked")

    def given_up_ms(self, looked_at: float | None = None) -> int:
        """When a call that is made now has failed, and nothing is done for it any more, by the store's clock as it was
        last heard. `looked_at`: when its asker has looked whether it may be done, where that is not now.
        """
        since = self._clock.read() if looked_at is None else looked_at
        return self._clock.heard_ms() + round((self.answers_within_s - (self._clock.read() - since)) * 1000)

    def until(self, looked_at: float | None = None) -> str:
        """The same in words, for a script that is told so."""
        return f" until:{self.given_up_ms(looked_at)}"

    def _expected(self) -> str:
        return str(self.expected_ms())


def _unobserved(name: str, seconds: float) -> None:
    """The observer where nobody observes."""
