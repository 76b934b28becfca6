"""Tickets and events as scripts pack them (parts/ticket.lua, parts/audit.lua), for those who list them.

Numbers are big-endian, and a text has its length before it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

TICKET_MARK = b"\2"

# How many bytes the length of each text takes.
_OF_TICKET = (1, 1, 1, 2, 2, 2)
_OF_EVENT = (1, 1, 2, 4, 1, 1, 2, 2, 2, 1, 4, 2, 2)
# How many bytes an event's number takes.
_NUMBER = 6
# In a ticket, behind the mark, the deadline and the attempt.
_TICKET_TEXTS_AT = 1 + 6 + 4


@dataclass(frozen=True, slots=True)
class PackedTicket:
    """What is shown of a ticket. `epoch` is decimal text; `intent` is empty for a write without a key."""

    deadline_ms: int
    attempt: int
    gateway: str
    intent: str
    epoch: str
    holder: str
    upstream: str
    rule: str


@dataclass(frozen=True, slots=True)
class PackedEvent:
    """One step of a write, in the order of the trail's own format."""

    number: int
    before: str
    after: str
    intent: str
    resource: str
    ticket: str
    epoch: str
    holder: str
    upstream: str
    rule: str
    fingerprint: bytes
    reason: str
    by: str
    principal: str
    trace: str = ""


def unpack_ticket(packed: bytes) -> PackedTicket:
    """A ticket that begins with the mark."""
    texts = _texts(packed, _TICKET_TEXTS_AT, _OF_TICKET)
    return PackedTicket(_number(packed, 1, 6), _number(packed, 7, 4), *(text.decode() for text in texts))


def unpack_event(packed: bytes) -> PackedEvent:
    texts = list(_texts(packed, _NUMBER, _OF_EVENT))
    before, after, intent, resource, ticket, epoch, holder, upstream, rule = (text.decode() for text in texts[:9])
    reason, by, principal = (text.decode() for text in texts[10:])
    end = _NUMBER + sum(_OF_EVENT) + sum(map(len, texts))
    # One byte of length before it: only events of a request that names its trace have one.
    trace = packed[end + 1 :].decode()
    return PackedEvent(
        *(_number(packed, 0, _NUMBER), before, after, intent, resource, ticket, epoch, holder, upstream, rule),
        *(texts[9], reason, by, principal, trace),
    )


def event_number(fields: Sequence[object]) -> int | None:
    """The number of an event as it is stored, names and values in turn; None where it is none."""
    told = dict(zip(fields[::2], fields[1::2], strict=False))
    packed, spelled = told.get(b"e"), told.get(b"number")
    if isinstance(packed, bytes) and len(packed) >= _NUMBER:
        return _number(packed, 0, _NUMBER)
    # As former releases spelled it: a field each.
    return int(spelled) if isinstance(spelled, bytes) and spelled.isdigit() else None


def _number(packed: bytes, at: int, size: int) -> int:
    return int.from_bytes(packed[at : at + size], "big")


def _texts(packed: bytes, at: int, sizes: tuple[int, ...]) -> Iterator[bytes]:
    for size in sizes:
        begins = at + size
        at = begins + _number(packed, at, size)
        yield packed[begins:at]
