"""How figures are shown."""

from tests.bench.figure import Figure, at_least
from tests.bench.table import Group, document, heading, row

_MET = Figure("writes", "writes/s", at_least(1.0), "a note").compared([20_000.0], [16_000.0])


def test_a_row_stands_under_its_heading() -> None:
    """What is missing leaves its place empty."""
    head = heading("throughput", "one worker").splitlines()[-1]

    told = row(_MET)
    assert told.startswith("writes, writes/s")
    assert told.split()[-6:] == ["1.25", "≥", "1", "yes", "a", "note"]
    assert told.index("yes") + len("yes") == head.index("met") + len("met")
    assert row(Figure("room", "MiB").of([93.75])).split() == ["room,", "MiB", "93.8"]


def test_the_document_has_what_the_table_has() -> None:
    """A goal is told as text, whether it is met as a truth value."""
    (figure,) = document([Group("throughput", [_MET])])["throughput"]

    told = {"what": "writes", "unit": "writes/s", "ours": 20_000.0, "beside": 16_000.0, "ratio": 1.25}
    assert figure == told | {"goal": "≥ 1", "met": True, "note": "a note"}
