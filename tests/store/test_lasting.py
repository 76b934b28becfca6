"""How long writes last, by rules that change."""

from gateway.store.lasting import Lasting


def test_what_was_admitted_by_former_rules_lasts_as_long_as_they_said() -> None:
    """From when they were asked last: another write may have been admitted then."""
    by_rules, now = [45.0], [1000.0]
    lasting = Lasting(lambda: by_rules[0], lambda: now[0])

    told = [lasting()]
    for at, seconds in ((1010.0, 45.0), (1011.0, 5.0), (1054.9, 5.0), (1055.0, 5.0), (1056.0, 60.0), (1057.0, 5.0)):
        now[0], by_rules[0] = at, seconds
        told.append(lasting())

    assert told == [45.0, 45.0, 45.0, 45.0, 5.0, 60.0, 60.0]
