"""What bars a write before the fence, so that nothing has moved: its caller's rights, a pause, a quota."""

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.quota import Spending
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey
from gateway.flow.pauses import Pauses
from gateway.flow.quota import Quotas


class Barring:
    """Asks in this order: who may not write learns nothing of pauses, and what is paused costs no quota."""

    def __init__(self, pauses: Pauses, quotas: Quotas) -> None:
        self._pauses = pauses
        self._quotas = quotas

    async def bars(self, rule: Rule, resource: ResourceKey, caller: Caller, holder: str | None) -> Refused | None:
        """`holder`: whom the request names; a lease's own is found out later."""
        barred = caller.forbidden(resource)
        if barred is None and self._pauses.in_force:
            barred = self._pauses.stops(rule, resource, caller.tenant, holder)
        if barred is not None or caller.rights.quota is None:
            return barred
        # A write of the caller's quota. Under a lease its grant has paid for the resource, if that was new.
        created = None if rule.authority == "lease" else resource
        return await self._quotas.spend(caller.rights.quota, Spending(write=True, resource=created))

    def paused(self, rule: Rule, resource: ResourceKey | None, caller: Caller, holder: str | None) -> Refused | None:
        """A pause, for a write whose resource may not be known, and which may never come before the fence."""
        return self._pauses.stops(rule, resource, caller.tenant, holder)
