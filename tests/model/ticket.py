"""A write in flight, as the oracle has it."""

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
