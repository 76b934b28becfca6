"""A worker's policies: the edition in force, and never an earlier one after its time."""

import asyncio
import os
from threading import Lock

from gateway.core.decision import POLICIES_UNAVAILABLE, Facts, Refused
from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.edition import NUMBER, SILENT_AFTER_S, Page

# What waits is judged anew only where somebody has found that the parent is silent.
_LOOK_EVERY_S = 0.5
_RETRY_AFTER_S = 2

NOBODY_LOOKS = Refused(
    POLICIES_UNAVAILABLE,
    "Nothing was done: the gateway cannot tell for now whether its policies have changed. Retry later.",
    Facts(retry_after_s=_RETRY_AFTER_S),
    f"the parent process has not looked at the policies for {SILENT_AFTER_S:g} s",
)
"""What is said while the parent is stopped or hangs, and until it has looked at the files again."""


class InForce:
    """The rule set by which requests are judged. `read` is the number of the page that the holder was opened at."""

    def __init__(self, holder: PolicyHolder, page: Page, read: bytes, log: Log) -> None:
        self._holder = holder
        self._page = page
        self._shared = page.shared
        self._read = read
        self._log = log
        self._reading = Lock()
        # The set that was in force when the parent fell silent, and the one that is used meanwhile.
        self._suspended: tuple[RuleSet, RuleSet] | None = None

    def __call__(self) -> RuleSet:
        """On each request. It reads the files itself, and all others wait, only where nobody else did in time."""
        if self._shared[:NUMBER] != self._read and self._page.is_due():
            self.reload()
        if self._page.is_silent():
            return self._suspend()
        if self._suspended is not None:
            self._resume(self._suspended[0])
        return self._holder.current

    async def watch(self) -> None:
        """See in time that the parent has fallen silent, or looks again. Does not end."""
        while True:
            self()
            await asyncio.sleep(_LOOK_EVERY_S)

    def reload(self) -> None:
        """Read the edition in force, unless that was read meanwhile. In any thread."""
        with self._reading:
            number = self._page.number()
            if number == self._read:
                return
            findings = self._holder.reload()
            # Files that cannot be used now are not read again for each request.
            self._read = number
        if isinstance(findings, tuple):
            # The parent has just found them valid; a credential's file may have gone since.
            self._log.error("a worker kept the policies in force", pid=os.getpid(), finding=str(findings[0]))

    def _suspend(self) -> RuleSet:
        current = self._holder.current
        if self._suspended is None:
            self._log.error(
                "the parent process does not look at the policies: writes are refused until it does",
                pid=os.getpid(),
                silent_s=SILENT_AFTER_S,
            )
        if self._suspended is None or self._suspended[0] is not current:
            current.suspend()
            self._suspended = current, current.refusing(NOBODY_LOOKS)
        return self._suspended[1]

    def _resume(self, former: RuleSet) -> None:
        self._suspended = None
        former.resume()
        self._log.info("the parent process looks at the policies again: writes are taken", pid=os.getpid())
