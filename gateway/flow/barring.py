"""What bars a write before the fence, so that nothing has moved: its caller's rights, a pause, a quota."""

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.quota import Spending
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey
from gateway.flow.pauses import Pauses
from gateway.flow.quota import Quotas


class Barring:
    """Asks in this order: who may not write learns nothing of pauses, and what is refused before it comes to the fence
    costs no quota. What the fence refuses is a write of the minute: a loop of stale ones is what that is there for.
    """

    def __init__(self, pauses: Pauses, quotas: Quotas) -> None:
        self._pauses = pauses
        self._quotas = quotas

    def bars(self, rule: Rule, resource: ResourceKey, caller: Caller, holder: str | None) -> Refused | None:
        """`holder`: whom the request names; a lease's own is found out later."""
        barred = caller.forbidden(resource)
        if barred is None and self._pauses.in_force:
            barred = self._pauses.stops(rule, resource, caller.tenant, holder)
        return barred

    async def spends(self, rule: Rule, resource: ResourceKey | None, caller: Caller) -> Refused | None:
        """Take a write of the caller's quota, just before the fence: everything else has been found in order.

        `resource` is None where it cannot be told, and nothing but its observation lets the write through.
        """
        # Under a lease its grant has paid for the resource, if that was new.
        created = None if rule.authority == "lease" else resource
        return await self._quotas.spend(caller.rights.quota, Spending(write=True, resource=created))

    def paused(self, rule: Rule, resource: ResourceKey | None, caller: Caller, holder: str | None) -> Refused | None:
        """A pause, for a write whose resource may not be known, and which may never come before the fence."""
        return self._pauses.stops(rule, resource, caller.tenant, holder)

    async def paused_by_now(
        self, rule: Rule, resource: ResourceKey | None, caller: Caller, holder: str | None
    ) -> Refused | None:
        """The same as the last thing before it is passed on, behind whatever it has waited for."""
        await self._pauses.freshen()
        return self.paused(rule, resource, caller, holder)
