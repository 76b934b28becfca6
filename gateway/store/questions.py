"""The turn to ask about an intent, and what was learned: implements the `Questions` of gateway.flow.inquiry."""

from dataclasses import replace

from gateway.core.intent import IntentId
from gateway.core.record import IntentRecord
from gateway.store.fence import FenceStore
from gateway.store.intents import Question, Resolution, Resolve, question, resolve


class Questions:
    """Unknown intents of one store. Every call raises StoreUnavailable."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store

    async def recall(self, id: IntentId) -> IntentRecord | None:
        return await self._store.recall(id)

    async def take(self, id: IntentId) -> Question | None:
        """How long it has surely been unknown: after a step of the store's clock a no would count too early."""
        taken = await question(self._store, id)
        if taken is None:
            return None
        surely_ms = taken.since_ms + int(self._store.surely_since_s(taken.since_ms) * 1000)
        return replace(taken, now_ms=min(taken.now_ms, surely_ms))

    async def resolve(
        self, record: IntentRecord, outcome: Resolution, reason: str, evidence: bytes, *, is_own: bool = False
    ) -> bool:
        """False where it was resolved meanwhile, by an answer that came after all or by an operator."""
        resolved = Resolve(outcome, "query", reason, self._store.gateway, evidence, is_own)
        return isinstance(await resolve(self._store, record, resolved), IntentRecord)
