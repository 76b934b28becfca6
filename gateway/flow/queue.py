"""What the flow needs of the store for writes that are sent later. The drivers are in `store`."""

from typing import Protocol

from gateway.core.decision import Refused
from gateway.core.delivery import Conclusion, Dropped, Taken
from gateway.core.kept_request import KeptRequest
from gateway.core.parking import Look
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, Replayed, ResourceKey, Settled, Write
from gateway.flow.ports import Admitting


class ParkingStore(Protocol):
    """Where writes are taken that are sent later. Every call raises StoreUnavailable."""

    async def park(self, write: Write, request: KeptRequest, look: Look) -> IntentRecord | Replayed | Refused:
        """Take the write in the state that its rule says, or find what has become of it. Fenced as by `Store.admit`.
        What `look` tells or raises comes out, and nothing was taken; nor is anything long after it was asked.

        A repeat of one that is parked finds it, and takes it over if its epoch is newer.
        """
        ...

    async def recall(self, id: str) -> IntentRecord | None:
        """What is known of an intent."""
        ...


class Queue(Admitting, Protocol):
    """What is queued. Every call but `new_ticket` raises StoreUnavailable.

    `admit` makes a ticket for what was taken: only its epoch counts.
    """

    async def due(self) -> list[ResourceKey]:
        """Resources whose queue has something due now."""
        ...

    async def approved(self) -> list[ResourceKey]:
        """Resources of which something was approved since the last look."""
        ...

    async def take(self, resource: ResourceKey) -> Taken | Dropped | None:
        """Take the head of a queue, for a while; None where nothing is due."""
        ...

    async def put_back(self, resource: ResourceKey, after_s: float) -> None:
        """What was taken cannot be sent now, and is due again then."""
        ...

    async def fail(self, taken: Taken, reason: str) -> bool:
        """End what was taken without sending it. False: not yet, for it was queued just now, and is due again soon."""
        ...

    async def end(self, taken: Taken, admitted: Admitted, conclusion: Conclusion) -> Settled:
        """Settle the ticket, and in the same step queue again what is proved not applied, if that is what follows."""
        ...
