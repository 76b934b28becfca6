"""The policy files of a process that delivers alone: it looks at them, and sends by what it has looked at lately.

One that was stopped, or has hung, takes up what is due before it looks again: until then it sends nothing.
"""

import asyncio
import contextlib

from gateway.core.clock import Clock
from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.edition import SILENT_AFTER_S, STEADY_S
from gateway.serve.inforce import NOBODY_LOOKS

# A change of the policy files is taken at the second look after it.
_LOOK_EVERY_S = 0.5


class Following:
    """The rule set by which kept writes are judged. `told`: set where somebody says that the files have changed."""

    def __init__(self, holder: PolicyHolder, told: asyncio.Event, clock: Clock, log: Log) -> None:
        self._holder = holder
        self._told = told
        self._clock = clock
        self._log = log
        # When the files were looked at last, and when that last said that what was read of them may be used.
        self._looked_at = self._known_at = clock.boot()
        holder.watched_by(self)

    def __call__(self) -> RuleSet:
        current = self._holder.current
        if self._is_silent():
            current.suspend()
            return current.refusing(NOBODY_LOOKS)
        current.resume()
        return current

    async def run(self) -> None:
        """As gateways do: what it sends is judged by the same policies, within two seconds of each other."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY_S):
                    await self._told.wait()
            if self._told.is_set() or self._holder.changed():
                await self._reload()
            self._has_looked()

    def _has_looked(self) -> None:
        """A change is read at the second look, unless it is stopped before: what it has may be used until then."""
        now, before = self._clock.boot(), self._looked_at
        self._looked_at = now
        if self._holder.is_current or (now - before < STEADY_S and not self._is_silent()):
            self._known_at = now

    async def _reload(self) -> None:
        self._told.clear()
        try:
            findings = await asyncio.to_thread(self._holder.reload)
        except BaseException:
            # What begins this anew finds that it was told.
            self._told.set()
            raise
        if isinstance(findings, tuple) and findings:
            self._log.error("the policies in force stay: the new ones have errors", finding=str(findings[0]))

    def _is_silent(self) -> bool:
        return self._clock.boot() - self._known_at >= SILENT_AFTER_S
