"""What did not answer is told in one sentence; that nothing did is no answer at all."""

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.store.keys import shards
from gateway.store.views.silence import Silent, heard, told
from tests.store.views.test_newest import STORE


async def answers(word: str) -> str:
    if word == "away":
        raise StoreUnavailable(word)
    if word == "bug":
        raise LookupError(word)
    return word


async def test_each_answers_for_itself() -> None:
    """In the order in which they were asked."""
    silent: Silent = {}

    found = await heard([("000", answers("one")), ("001", answers("away")), ("002", answers("two"))], silent)

    assert found == ["one", None, "two"]
    assert list(silent) == ["001"]


async def test_a_bug_is_no_silence() -> None:
    """Only a store that is away is."""
    with pytest.raises(LookupError):
        await heard([("000", answers("bug"))], {})


@pytest.mark.parametrize(
    ("whys", "sentence"),
    [
        ([], None),
        (["lost"], "1 of 1024 shards do not answer: lost"),
        (["lost", "lost", "late"], "3 of 1024 shards do not answer: lost; late"),
        (["1", "2", "3", "4", "5"], "5 of 1024 shards do not answer: 1; 2; 3, and 2 more reasons"),
    ],
    ids=["nothing", "one", "two reasons", "many reasons"],
)
def test_reasons_are_told_once(whys: list[str], sentence: str | None) -> None:
    """The first of them."""
    assert told(STORE, {shard: StoreUnavailable(why) for shard, why in zip(shards(), whys, strict=False)}) == sentence


def test_where_nothing_answers_there_is_nothing_to_tell_beside() -> None:
    """It is raised, as of a store that is away."""
    with pytest.raises(StoreUnavailable):
        told(STORE, dict.fromkeys(shards(), StoreUnavailable("away")))
