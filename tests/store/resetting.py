"""A resource whose epoch an operator forgets."""

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.resets import reset
from tests.store.fences import RESOURCE

FENCE = resource_keys(RESOURCE)[0]
LOST = f"{resource_keys(RESOURCE)[6]}lost"


async def forget(store: FenceStore, epoch: Epoch | None = None) -> Epoch | Refused:
    return await reset(store, RESOURCE, note="a test ran away", by="operator", epoch=epoch)
