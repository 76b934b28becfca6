"""The checker: every promise that a history breaks, with its evidence. Pure."""

from collections.abc import Callable, Iterator

from tests.history.effects import executed_twice, faulty_answers, lost_acknowledgements, refused_and_sent, refused_reads
from tests.history.ends import (
    broken_words,
    left_in_flight,
    low_fences,
    unexpected_losses,
    unrecorded_endings,
    untrue_records,
)
from tests.history.history import History, Violation
from tests.history.order import (
    falling_arrivals,
    falling_executions,
    grants_that_do_not_grow,
    overlaps,
    overtaken_writes,
)

RULES: tuple[Callable[[History], Iterator[Violation]], ...] = (
    *(falling_arrivals, falling_executions, overlaps, overtaken_writes, grants_that_do_not_grow),
    *(executed_twice, lost_acknowledgements, refused_and_sent, refused_reads, faulty_answers),
    *(untrue_records, unrecorded_endings, broken_words, left_in_flight, low_fences, unexpected_losses),
)


def check(history: History) -> list[Violation]:
    """Empty for a history that breaks no promise."""
    return [violation for rule in RULES for violation in rule(history)]
