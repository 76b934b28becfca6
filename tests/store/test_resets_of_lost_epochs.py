"""An operator forgets an epoch that gateways remember and the store has lost."""

from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST
from gateway.store.fence import FenceStore
from tests.store.fences import RESOURCE, ask, bare, ended, name_of
from tests.store.losing import remembering
from tests.store.resetting import FENCE, LOST, forget


async def test_what_a_gateway_alone_remembers_is_forgotten_once_it_is_advanced(
    store: FenceStore, store_url: str, raw: Any
) -> None:
    """Long after a loss: nothing in the store tells of that any more."""
    async with remembering(store_url) as one:
        await ended(one.store, bare(HIGHEST), "applied")
        raw.delete(FENCE)
        one.incarnation.recent.forget(43)
        assert name_of(await ask(one.store, bare(5))) == "stale-epoch"
        refused = await forget(store)
        assert isinstance(refused, Refused) and "advance the resource first" in refused.detail

        await store.advance(RESOURCE, None, "request")
        await forget(store)

        assert name_of(await ask(one.store, bare(5))) == "Admitted"


@pytest.mark.parametrize("lost", ["the resource", "what was done since a reset"])
async def test_what_gateways_remember_and_the_store_does_not_is_forgotten_too(
    lost: str, store: FenceStore, store_url: str, raw: Any
) -> None:
    """After a loss that was accepted: the largest epoch of all would rule for whoever has seen it before."""
    async with remembering(store_url) as one:
        await ended(store, bare(42), "applied")
        await forget(store)
        await ended(one.store, bare(HIGHEST), "applied")
        raw.delete(FENCE) if lost == "the resource" else raw.hdel(FENCE, "e", "h", "w", "m")
        one.incarnation.recent.forget(43)
        raw.set(LOST, "43 accepted")
        assert name_of(await ask(one.store, bare(5))) == "stale-epoch"

        await forget(store)

        assert name_of(await ask(one.store, bare(5))) == "Admitted"
