"""Records, tickets and events as gateways wrote them before: they are read, and those gateways stop at what is new."""

import json
from typing import Any

import pytest
from redis.exceptions import ResponseError

from gateway.core.intent import KeptAnswer
from gateway.core.write import Admitted, Replayed, Waiting
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, deadlines, in_state, resource_keys, shard_of
from gateway.store.views.audit_views import Sought, events
from gateway.store.views.resource_views import tickets
from tests.store.fences import ANSWER, HELD, INTENT, RESOURCE, admitted, ask, bare, keyed, settled, state_of
from tests.store.overdue import LONG_AGO_MS

_SHARD = shard_of(RESOURCE)
_RECORD = f"fg:{{{_SHARD}}}:i:{INTENT}"
_TICKET = f"{_SHARD}another-1"
# The record of an intent in the order that it had, with all that came to its end later.
_PUT = """
redis.call('SET', KEYS[1], cmsgpack.pack({
  1, ARGV[1], ARGV[2], 1, '42', 'A', 'reports', 'replace', ARGV[3], ARGV[4], ARGV[5], 1000, 2000, 1500, 'admitted',
  3600000, 0, 0, '', '', '', ARGV[6], '', '', '',
}))
"""
# What its scripts did first with a record and with a ticket.
_READ_RECORD = "return #cmsgpack.unpack(redis.call('GET', KEYS[1]))"
_READ_STATE = "return ({ cmsgpack.unpack_limit(redis.call('GETRANGE', KEYS[1], 0, 31), 2, 3) })[3]"
_READ_TICKET = "return #cjson.decode(redis.call('HVALS', KEYS[1])[1])"


def put_record(raw: Any, state: str, answer: KeptAnswer | None = None) -> None:
    about = json.dumps(["mail-7", "default", "POST /mails"])
    kept = b"" if answer is None else answer.pack()
    raw.eval(_PUT, 1, _RECORD, state, _TICKET, RESOURCE, about, b"\x00one thing", kept)
    if state != "in_flight":
        raw.zadd(in_state(_SHARD, state), {INTENT: 2000})


def put_flight(raw: Any, deadline_ms: int) -> None:
    """A write that was admitted by a gateway of that time and has not ended."""
    put_record(raw, "in_flight")
    fence, current, *_ = resource_keys(RESOURCE)
    raw.hset(fence, mapping={"v": "1", "e": "42", "h": "A", "w": "2"})
    told = {"epoch": "42", "deadline": str(deadline_ms), "gateway": "another", "upstream": "reports", "rule": "replace"}
    raw.hset(current, _TICKET, json.dumps(told | {"holder": "A", "intent": INTENT, "attempt": 1, "in_doubt": ""}))
    raw.zadd(deadlines(_SHARD), {f"{_TICKET} {RESOURCE}": deadline_ms})


async def test_a_record_of_that_time_is_shown_and_replayed(store: FenceStore, raw: Any) -> None:
    """Key, holder, attempts and answer are what they were."""
    put_record(raw, "applied", ANSWER)

    record = await store.recall(INTENT)
    reply = await ask(store, keyed(bare(42, of=HELD)))

    assert record is not None
    assert (record.state, record.key, record.holder, record.attempts) == ("applied", "mail-7", "A", 1)
    assert (record.created_at_ms, record.updated_at_ms, record.answer) == (1000, 2000, ANSWER)
    assert isinstance(reply, Replayed) and reply.answer == ANSWER


async def test_a_write_of_that_time_is_in_flight_and_lapses(store: FenceStore, raw: Any) -> None:
    """A newcomer waits for it, operators see it, and it ends as unknown."""
    put_flight(raw, store.expected_ms() + 60_000)
    waits = await ask(store, bare(43, "B"))
    (shown,) = await tickets(store, RESOURCE)
    put_flight(raw, LONG_AGO_MS)

    ended = await store.sweep(RESOURCE, shown.id)

    assert isinstance(waits, Waiting)
    assert (shown.epoch, shown.holder, shown.intent, shown.attempt) == (42, "A", INTENT, 1)
    assert (ended, await state_of(store)) == (1, "unknown")


async def test_a_key_freed_at_that_time_is_used_again(store: FenceStore, raw: Any) -> None:
    """The next attempt is the second one, and ends in the format of now."""
    put_record(raw, "not_applied")

    one = await admitted(store, keyed(bare(42, of=HELD)))
    await settled(store, one, "applied", ANSWER)

    record = await store.recall(INTENT)
    assert record is not None
    assert (record.state, record.attempts, record.created_at_ms, record.answer) == ("applied", 2, 1000, ANSWER)


async def test_events_of_both_times_are_one_trail(store: FenceStore, raw: Any) -> None:
    """Numbered on without a gap."""
    words = "intent to resource ticket epoch holder upstream rule input reason by principal"
    raw.xadd(audit_trail(_SHARD), {"number": 1, "from": "", **dict.fromkeys(words.split(), "x")}, id="1000-0")
    raw.set(f"fg:{{{_SHARD}}}:n", 1)
    await admitted(store, bare(42))

    page = await events(store, Sought(), None)

    assert [(event.number, event.after) for event in page.items] == [(2, "in_flight"), (1, "x")]


@pytest.mark.parametrize("read", [_READ_RECORD, _READ_STATE, _READ_TICKET], ids=["record", "state", "ticket"])
async def test_gateways_of_that_time_stop_at_what_is_new_to_them(store: FenceStore, raw: Any, read: str) -> None:
    """Their scripts fail before they write, and take it for nothing else."""
    one = await admitted(store, keyed(bare(42, of=HELD)))
    assert isinstance(one, Admitted)

    with pytest.raises(ResponseError, match=r"Bad data format|invalid token"):
        raw.eval(read, 1, resource_keys(RESOURCE)[1] if read == _READ_TICKET else _RECORD)
