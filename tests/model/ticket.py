"""A write in flight, as the oracle has it, and its place in the sequence."""

from dataclasses import dataclass

from gateway.core.write import Admitted, Write


@dataclass
class Ticket:
    admitted: Admitted
    holder: str
    sequence_before: int | None
    has_place: bool
    counts: bool

    @property
    def write(self) -> Write:
        return self.admitted.write


def is_in_sequence(write: Write, last: int | None) -> bool:
    """Whether it may come behind the one that has this number."""
    match write.rule.fence.sequence:
        case "increasing":
            assert write.sequence is not None
            return last is None or write.sequence > last
        case "contiguous":
            return write.sequence == (last or 0) + 1
        case "off":
            return True
