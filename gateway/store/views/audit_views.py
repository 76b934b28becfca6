"""What operators see of the audit trail: what happened to writes, and who had which epoch; one stream a shard."""

from dataclasses import dataclass

from gateway.core.write import ResourceKey
from gateway.store.answer import pairs, text
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, shard_of, shard_of_id
from gateway.store.links.link import Reply
from gateway.store.packed import unpack_event
from gateway.store.views.newest import Entry, newest
from gateway.store.views.page import PAGE, Page, Position, position
from gateway.store.views.silence import Silent, told

# Events that a step of a search through one shard looks at, and steps until a page is answered though it is not full.
_STEP = 500
_STEPS = 20
# Before the names of all shards.
_FIRST_NAME = "-"


@dataclass(frozen=True, slots=True)
class Sought:
    """Which events are wanted: of a resource, of an intent, between two instants of the store's clock."""

    resource: ResourceKey | None = None
    intent: str | None = None
    since_ms: int = 0
    until_ms: int | None = None

    def matches(self, event: "Event") -> bool:
        return self.resource in (None, event.resource) and self.intent in (None, event.intent)


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a write, or what happened to an epoch. `at_ms` is of the store's clock; `number` counts the shard's
    events without a gap.

    `before` is empty where nobody had seen the intent, `intent` where there is none. `epoch` is decimal text. `input`
    is the intent's fingerprint in hex, empty where there is none; `by` is a gateway, or who resolved; `principal` is
    empty where nobody has a name, and `trace_id` where the request belonged to no trace.
    """

    at_ms: int
    number: int
    intent: str
    before: str
    after: str
    resource: str
    ticket: str
    epoch: str
    holder: str
    upstream: str
    rule: str
    input: str
    reason: str
    by: str
    principal: str = ""
    trace_id: str = ""


async def events(store: FenceStore, sought: Sought, cursor: str | None, count: int = PAGE) -> Page[Event]:
    """The newest `count` of the events that are sought, the newest first. Raises BadCursor."""
    after = position(cursor)
    if after is None and sought.until_ms is not None:
        # Behind the last event that there may be of that instant.
        after = Position(sought.until_ms + 1, 0, _FIRST_NAME)
    if sought.resource is None and sought.intent is None:
        return await _of_all(store, sought.since_ms, after, count)
    shard = shard_of(sought.resource) if sought.resource is not None else shard_of_id(sought.intent or "")
    return Page((), None) if shard is None else await _of_shard(store, shard, sought, after, count)


async def oldest(store: FenceStore, resource: ResourceKey) -> Event | None:
    """The oldest event that is left of those in the resource's shard; None if there is none."""
    shard = shard_of(resource)
    reply = await store.link.call("XRANGE", audit_trail(shard), "-", "+", "COUNT", 1)
    assert isinstance(reply, list)
    return _event(_entry(shard, reply[0])) if reply else None


async def _of_all(store: FenceStore, since_ms: int, after: Position | None, count: int) -> Page[Event]:
    async def read(shard: str, after: Position | None, asked: int) -> list[Entry]:
        return await _entries(store, shard, since_ms, after, asked)

    silent: Silent = {}
    entries = await newest(read, after, count + 1, silent)
    shown = entries[:count]
    more = len(entries) > count
    incomplete = told(store.link, silent)
    return Page(tuple(map(_event, shown)), shown[-1].position.cursor if more else None, incomplete)


async def _of_shard(store: FenceStore, shard: str, sought: Sought, after: Position | None, count: int) -> Page[Event]:
    """A search: the shard's other resources and intents are passed over."""
    found: list[Event] = []
    for _ in range(_STEPS):
        entries = await _entries(store, shard, sought.since_ms, after, _STEP)
        for entry in entries:
            after = entry.position
            event = _event(entry)
            if sought.matches(event):
                found.append(event)
            if len(found) == count:
                return Page(tuple(found), after.cursor)
        if len(entries) < _STEP:
            return Page(tuple(found), None)
    assert after is not None
    return Page(tuple(found), after.cursor)


async def _entries(store: FenceStore, shard: str, since_ms: int, after: Position | None, count: int) -> list[Entry]:
    reply = await store.link.call("XREVRANGE", audit_trail(shard), _end(shard, after), since_ms, "COUNT", count)
    assert isinstance(reply, list)
    return [_entry(shard, event) for event in reply]


def _end(shard: str, after: Position | None) -> str:
    """Where a shard's events begin that are older than `after`. At one instant, shards are in the order of names."""
    if after is None:
        return "+"
    exclusive = "" if shard < after.name else "("
    return f"{exclusive}{after.ms}-{after.within}"


def _entry(shard: str, event: Reply) -> Entry:
    assert isinstance(event, list)
    id, fields = event
    ms, _, within = text(id).partition("-")
    return Entry(Position(int(ms), int(within), shard), fields)


def _event(entry: Entry) -> Event:
    fields = dict(pairs(entry.fields))
    packed = fields.get(b"e")
    if packed is None:
        return _former_event(entry.position.ms, {text(name): text(value) for name, value in fields.items()})
    assert isinstance(packed, bytes)
    event = unpack_event(packed)
    return Event(
        at_ms=entry.position.ms,
        number=event.number,
        intent=event.intent,
        before=event.before,
        after=event.after,
        resource=event.resource,
        ticket=event.ticket,
        epoch=event.epoch,
        holder=event.holder,
        upstream=event.upstream,
        rule=event.rule,
        input=event.fingerprint.hex(),
        reason=event.reason,
        by=event.by,
        principal=event.principal,
        trace_id=event.trace,
    )


def _former_event(at_ms: int, fields: dict[str, str]) -> Event:
    """As gateways wrote it before events were packed: a field each."""
    return Event(
        at_ms=at_ms,
        number=int(fields["number"]),
        intent=fields["intent"],
        before=fields["from"],
        after=fields["to"],
        resource=fields["resource"],
        ticket=fields["ticket"],
        epoch=fields["epoch"],
        holder=fields["holder"],
        upstream=fields["upstream"],
        rule=fields["rule"],
        input=fields["input"],
        reason=fields["reason"],
        by=fields["by"],
        # Older events have none.
        principal=fields.get("principal", ""),
    )
