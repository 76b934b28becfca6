"""What a gateway knows of its store, beside what a script says: which refusals show that something was lost."""

import pytest

from gateway.core.epoch import HIGHEST
from gateway.core.write import Write
from gateway.store.answer import Answer
from gateway.store.keys import shard_of
from gateway.store.loss.acknowledged import Acknowledged
from gateway.store.loss.recent import Recent
from tests.store.fences import RESOURCE, bare, leased

NOW_MS = 1_800_000_000_000
DAY_MS = 24 * 3_600_000


def knowing(*, seen: int = 0, before_loss: int = 0, floor: int = 0, watched: bool = True) -> Acknowledged:
    recent = Recent()
    known = Acknowledged(recent if watched else None)
    if before_loss:
        known.note(RESOURCE, before_loss)
        recent.forget(floor)
    if seen:
        known.note(RESOURCE, seen)
    return known


def refused(word: str, highest: int | None = None, *, forgotten: int | None = None) -> Answer:
    told = [b"" if highest is None else str(highest).encode(), b"B", b"", b"0", b"", b""]
    return Answer(word, NOW_MS, [*told, *([] if forgotten is None else [str(forgotten).encode()])])


@pytest.mark.parametrize(
    ("known", "answer", "word", "highest"),
    [
        pytest.param({}, refused("token-invalid"), "token-invalid", b"", id="nothing was ever seen"),
        pytest.param({"seen": 42}, refused("stale-epoch", 43), "stale-epoch", b"43", id="the store knows more"),
        pytest.param({"seen": 42}, refused("stale-epoch", 41), "store-regressed", b"41", id="the store knows less"),
        pytest.param({"seen": NOW_MS}, refused("token-invalid"), "store-regressed", b"", id="the record has gone"),
        pytest.param(
            {"seen": NOW_MS - DAY_MS - 1}, refused("token-invalid"), "token-invalid", b"", id="an old lease's record"
        ),
        pytest.param(
            {"seen": 1},
            refused("token-invalid", 0),
            "store-regressed",
            b"0",
            id="epoch zero is a record, and no old one",
        ),
        pytest.param(
            {"before_loss": 42, "floor": 43}, refused("token-invalid"), "token-invalid", b"", id="it ended with a loss"
        ),
        pytest.param(
            {"before_loss": 60, "floor": 1}, refused("stale-epoch", 50), "stale-epoch", b"60", id="a loss was told of"
        ),
        pytest.param(
            {"seen": HIGHEST}, refused("stale-epoch", 5, forgotten=HIGHEST), "stale-epoch", b"5", id="it was reset"
        ),
        pytest.param(
            {"seen": 60}, refused("stale-epoch", 5, forgotten=50), "store-regressed", b"5", id="it was reset before"
        ),
    ],
)
def test_a_refusal_is_compared_with_what_was_seen(
    known: dict[str, int], answer: Answer, word: str, highest: bytes
) -> None:
    """A store that is behind refuses nobody in the right words."""
    found = knowing(**known).compared(answer, RESOURCE)

    assert (found.word, found.rest[0]) == (word, highest)


def test_what_was_reset_is_not_missed_a_second_time() -> None:
    """From then on the record is what counts."""
    known = knowing(seen=HIGHEST)
    known.compared(refused("stale-epoch", 5, forgotten=HIGHEST), RESOURCE)

    assert known.must_have(RESOURCE) == 5
    assert known.words(bare(6)) == " seen:5"


@pytest.mark.parametrize(
    ("answer", "write", "expected"),
    [
        pytest.param(Answer("wait-older", NOW_MS, [500]), bare(42), 42, id="it waits"),
        pytest.param(Answer("replayed", NOW_MS, [b"", b"", b""]), bare(42), 42, id="it is replayed"),
        pytest.param(Answer("replayed", NOW_MS, [b"", b"", b""]), leased(42), 42, id="it is replayed under a lease"),
        pytest.param(refused("intent-mismatch", 42), bare(42), 42, id="it is refused"),
        pytest.param(refused("intent-mismatch", 42), leased(42), 0, id="a lease's is known from its grant"),
        pytest.param(refused("stale-epoch", 43), bare(42), 0, id="it is not the one in force"),
        pytest.param(refused("store-regressed", 42), bare(42), 0, id="what was lost is told of already"),
        pytest.param(refused("paused"), bare(0), 0, id="there is none in force"),
    ],
)
def test_an_epoch_is_acknowledged_with_whatever_becomes_of_its_write(
    answer: Answer, write: Write, expected: int
) -> None:
    """G1: from then on an older one is not admitted."""
    known = knowing()
    known.heard(answer, write)

    assert known.must_have(RESOURCE) == expected


@pytest.mark.parametrize(
    ("known", "words"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"seen": 42}, " known", id="this one"),
        pytest.param({"seen": 41}, " seen:41", id="an older one, which the store must have"),
        pytest.param({"seen": 43}, " seen:43", id="a newer one"),
        pytest.param({"before_loss": 43}, " seen:43 told", id="a newer one, of before a loss"),
        pytest.param({"before_loss": 41}, "", id="an older one, of before a loss"),
        pytest.param({"seen": 41, "watched": False}, "", id="where no loss is told of, only what rules"),
    ],
)
def test_scripts_are_told_what_was_seen(known: dict[str, int], words: str) -> None:
    """As far as the record may not know it."""
    assert knowing(**known).words(bare(42)) == words


@pytest.mark.parametrize(
    ("known", "words"),
    [
        pytest.param({}, " known", id="nothing"),
        pytest.param({"seen": 1}, " seen:1", id="a newer one"),
        pytest.param({"before_loss": 43}, " seen:43 told", id="a newer one, of before a loss"),
        pytest.param({"seen": 43, "watched": False}, " seen:43", id="a newer one, where no loss is told of"),
    ],
)
def test_zero_is_an_epoch_and_no_lack_of_one(known: dict[str, int], words: str) -> None:
    """Whatever was seen rules it, also after a loss of which nothing is expected any more."""
    assert knowing(**known).words(bare(0)) == words


def test_a_lease_from_before_a_loss_rules_nothing() -> None:
    """The scripts know of its end themselves."""
    known = knowing(before_loss=43, floor=44)

    assert (known.ruling(leased(42)), known.ruling(bare(42))) == (0, 43)


@pytest.mark.parametrize(
    ("word", "seen", "doubts"),
    [("began-anew", 0, True), ("store-regressed", 42, True), ("store-regressed", 0, False), ("paused", 42, False)],
)
def test_whoever_alone_knows_of_a_loss_makes_it_known(word: str, seen: int, doubts: bool) -> None:
    """A loss that everybody was told of is no news."""
    recent = Recent()
    known = Acknowledged(recent)
    if seen:
        known.note(RESOURCE, seen)

    known.doubt_where(refused(word), RESOURCE)

    assert recent.doubted.is_set() is doubts
    assert recent.take_doubtful() == ({shard_of(RESOURCE)} if word == "began-anew" else set())


def test_a_shard_has_the_origin_that_was_learned() -> None:
    """None where nobody looks for losses, or it is not known yet."""
    recent = Recent()
    known = Acknowledged(recent)
    assert known.origin(RESOURCE) == Acknowledged().origin(RESOURCE) == ""

    recent.origins[shard_of(RESOURCE)] = "one"

    assert known.origin(RESOURCE) == "one"
