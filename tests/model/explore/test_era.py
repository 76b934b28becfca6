"""Time moves every instant of a store's content, and nothing else."""

from tests.model.explore.era import ERA_MS, is_instant, moved, moved_text, names_of, renamed_text


def test_instants_move_in_text_and_in_bytes() -> None:
    """What was a second ago is two seconds ago, a second later."""
    ago, longer_ago = ERA_MS - 1000, ERA_MS - 2000

    later = moved_text(b"x" + str(ago).encode() + b" \x02" + ago.to_bytes(6, "big") + b"\xff41", 1000)

    assert later == b"x" + str(longer_ago).encode() + b" \x02" + longer_ago.to_bytes(6, "big") + b"\xff41"


def test_epochs_from_elsewhere_do_not_move() -> None:
    """They are no instants."""
    assert not is_instant(41)
    assert moved(41, 1000) == 41
    assert moved(ERA_MS, 1000) == ERA_MS - 1000


def test_epochs_of_the_past_keep_their_order() -> None:
    """Their names are as near to now as that allows; what is not past keeps its own."""
    names = names_of([ERA_MS - 5000, ERA_MS - 3000, ERA_MS, 41])

    assert names == {ERA_MS - 5000: ERA_MS - 2, ERA_MS - 3000: ERA_MS - 1}
    assert renamed_text(f"e {ERA_MS - 3000} {ERA_MS}".encode(), names) == f"e {ERA_MS - 1} {ERA_MS}".encode()
