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


def knowing(*, seen: int = 0, before_loss: int = 0, floor: int = 0, watched: bool = True, era: int = 0) -> Acknowledged:
    recent = Recent()
    known = Acknowledged(recent if watched else None)
    if before_loss:
        known.note(RESOURCE, before_loss)
        recent.forget(floor)
    if seen:
        known.note(RESOURCE, seen, era)
    return known


def refused(word: str, highest: int | None = None, *, era: int = 0, of: int = 0) -> Answer:
    told = [b"" if highest is None else str(highest).encode(), b"B", b"", b"0", b"", b""]
    return Answer(word, NOW_MS, [*told, *([str(era).encode()] if era else [])], of)


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
            {"seen": 60, "era": 7}, refused("stale-epoch", 5, era=7, of=7), "store-regressed", b"5", id="since a reset"
        ),
        pytest.param(
            {"seen": 60, "era": 7}, refused("stale-epoch", 99), "stale-epoch", b"99", id="of before a reset, heard late"
        ),
    ],
)
def test_a_refusal_is_compared_with_what_was_seen(
    known: dict[str, int], answer: Answer, word: str, highest: bytes
) -> None:
    """A store that is behind refuses nobody in the right words."""
    found = knowing(**known).compared(answer, RESOURCE)

    assert (found.word, found.rest[0]) == (word, highest)


@pytest.mark.parametrize(
    ("known", "told", "begun", "word", "era"),
    [
        pytest.param({"seen": HIGHEST}, 0, 7, None, 7, id="it was reset"),
        pytest.param({"seen": 6, "era": 7}, 7, 9, None, 9, id="it was reset again"),
        pytest.param({"seen": 6, "era": 7}, 0, 7, None, 7, id="that was learned meanwhile"),
        pytest.param({"seen": 6, "era": 7}, 0, 0, None, 7, id="that was learned meanwhile, and is lost"),
        pytest.param({"seen": 6, "era": 7}, 7, 0, "store-regressed", 7, id="the reset is lost"),
        pytest.param({"seen": 6, "era": 7}, 7, 1, "store-regressed", 7, id="the last reset is lost"),
        pytest.param({"seen": 6, "era": 7, "watched": False}, 7, 0, None, 0, id="where no loss is told of"),
    ],
)
def test_who_saw_an_epoch_before_a_reset_is_behind_by_right(
    known: dict[str, int], told: int, begun: int, word: str | None, era: int
) -> None:
    """Who saw it since is not. Where the script has to be asked again, what is known has changed."""
    one = knowing(**known)

    met = one.met(refused("other-era", 5, era=begun, of=told), RESOURCE)

    assert (None if met is None else met.word) == word
    assert one.era(RESOURCE) == era


def test_what_was_reset_is_not_missed_a_second_time() -> None:
    """From then on the record is what counts, and what is heard of late of before it does not."""
    known = knowing(seen=HIGHEST)
    known.met(refused("other-era", 5, era=7), RESOURCE)
    assert (known.must_have(RESOURCE), known.words(bare(6))) == (0, " era:7")

    known.note(RESOURCE, 5, 7)
    known.note(RESOURCE, HIGHEST)

    assert known.must_have(RESOURCE) == 5
    assert known.words(bare(6)) == " seen:5 era:7"
    assert known.words(bare(5)) == " known era:7"


def test_after_a_loss_what_ruled_since_a_reset_goes_on_ruling() -> None:
    """Until the next reset, also where the store has lost that one."""
    recent = Recent()
    known = Acknowledged(recent)
    known.note(RESOURCE, 6, 7)
    recent.forget(1)
    assert known.words(bare(5)) == " seen:6 told"

    known.met(refused("other-era", 4, era=7), RESOURCE)
    assert known.words(bare(5)) == " seen:6 told era:7"

    known.met(refused("other-era", 4, era=9, of=7), RESOURCE)
    assert known.words(bare(5)) == " era:9"


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


def test_a_reset_that_is_lost_is_made_known() -> None:
    """Also where no epoch was seen since."""
    recent = Recent()
    known = Acknowledged(recent)
    known.began(RESOURCE, 7)

    known.doubt_where(refused("store-regressed", 42), RESOURCE)

    assert recent.doubted.is_set()


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
