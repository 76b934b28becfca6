"""Notifications that were not received, as operators see them, and sending them again."""

from typing import Any

import pytest

from gateway.core.webhook import Again, Dead
from gateway.store.fence import FenceStore
from gateway.store.keys import LetterState, notification, notifications, shard_of
from gateway.store.outbox import Outbox
from gateway.store.views.letters import letters, resend
from tests.store.fences import INTENT, RESOURCE
from tests.telling import attempted, due_of, outbox_of, unknown


async def ids(store: FenceStore, state: LetterState) -> list[str]:
    return [letter.notification.id for letter in (await letters(store, state, None)).items]


async def test_what_waits_says_when_it_is_tried_again(store: FenceStore, raw: Any) -> None:
    """And why it failed, and how often."""
    await unknown(store)
    id = await attempted(store, Again(300.0, "it answered 500"))

    (letter,) = (await letters(store, "waiting", None)).items
    assert (letter.notification.id, letter.notification.intent) == (id, INTENT)
    assert (letter.attempts, letter.failure) == (1, "it answered 500")
    assert 295_000 < letter.at_ms - store.expected_ms() <= 300_000
    assert await ids(store, "dead") == []


async def test_a_dead_letter_is_listed_apart(store: FenceStore) -> None:
    """With the instant of its death."""
    await unknown(store)
    id = await attempted(store, Dead("it answered 410"))

    assert (await ids(store, "dead"), await ids(store, "waiting")) == ([id], [])
    (letter,) = (await letters(store, "dead", None)).items
    assert abs(letter.at_ms - store.expected_ms()) < 5000


async def test_an_entry_without_a_notification_is_passed_over(store: FenceStore, raw: Any) -> None:
    """Its time is over, or no gateway wrote it."""
    raw.zadd(notifications("000", "dead"), {"0001-0": 1, "nonsense": 2, b"\xff": 3})

    assert await ids(store, "dead") == []


@pytest.mark.parametrize("state", ["dead", "waiting"])
async def test_one_is_sent_again(store: FenceStore, raw: Any, state: LetterState) -> None:
    """Now, from the first attempt on, and for as long as a new one is kept."""
    await unknown(store)
    id = await attempted(store, Dead("it answered 410") if state == "dead" else Again(300.0, "it answered 500"))

    letter = await resend(store, id)

    assert letter is not None and (letter.notification.id, letter.attempts) == (id, 0)
    assert (await ids(store, "dead"), await ids(store, "waiting")) == ([], [id])
    assert raw.ttl(notification(id[:3], id)) == -1
    (due,) = await due_of(Outbox(store))
    claimed = await Outbox(store).claim(due)
    assert claimed is not None and claimed.attempt == 1


@pytest.mark.parametrize("id", ["nonsense", "fff1-0", f"{shard_of(RESOURCE)}1795977964637-0"])
async def test_what_is_gone_is_not_sent(store: FenceStore, raw: Any, id: str) -> None:
    """It was received, or never was one."""
    assert await resend(store, id) is None
    assert outbox_of(raw) == []
