"""A worker's policies: the edition in force, and never an earlier one after its time."""

import asyncio
import os
from dataclasses import replace
from threading import Lock

from gateway.core.decision import POLICIES_UNAVAILABLE, Facts, Refused
from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.edition import SILENT_AFTER_S, Page

# What waits is judged anew only where somebody has found that the parent is silent.
_LOOK_EVERY_S = 0.5
# Between two tries to read an edition that could not be read.
_AGAIN_AFTER_S = 2.0
_RETRY_AFTER_S = 2

NOBODY_LOOKS = Refused(
    POLICIES_UNAVAILABLE,
    "Nothing was done: the gateway cannot tell for now whether its policies have changed. Retry later.",
    Facts(retry_after_s=_RETRY_AFTER_S),
    f"for {SILENT_AFTER_S:g} s the parent process has not said that the policies are in force",
)
"""What is said while the parent is stopped, hangs or has no room for what its workers should read, and until it has
looked at the files again."""

_CANNOT_READ = replace(NOBODY_LOOKS, why=f"for {SILENT_AFTER_S:g} s a worker could not read the policies in force")


class InForce:
    """The rule set by which requests are judged. `read` is the number of the page that the holder was opened at."""

    def __init__(self, holder: PolicyHolder, page: Page, read: int, log: Log) -> None:
        self._holder = holder
        self._page = page
        self._read = read
        self._log = log
        self._reading = Lock()
        # Since when an edition is in force that this worker cannot read, and when it tried last.
        self._lacks_since: float | None = None
        self._tried_at = 0.0
        # The set that was in force when the parent fell silent, and the one that is used meanwhile.
        self._suspended: tuple[RuleSet, RuleSet] | None = None
        holder.watched_by(self)

    def __call__(self) -> RuleSet:
        """On each request. It reads the files itself, and all others wait, only where nobody else did in time."""
        if self._lacks_since is None and self._suspended is None and self._page.vouches_for(self._read):
            return self._holder.current
        if self._page.number() != self._read and self._page.is_due():
            self.reload()
        if self._page.is_silent():
            return self._suspend(NOBODY_LOOKS)
        if self._lacks_since is not None and self._page.now() - self._lacks_since >= SILENT_AFTER_S:
            return self._suspend(_CANNOT_READ)
        if self._suspended is not None:
            self._resume(self._suspended[0])
        return self._holder.current

    async def watch(self) -> None:
        """See in time that the parent has fallen silent, or looks again. Does not end."""
        while True:
            if self._lacks_since is not None and self._page.now() - self._tried_at >= _AGAIN_AFTER_S:
                await asyncio.to_thread(self.reload)
            self()
            await asyncio.sleep(_LOOK_EVERY_S)

    def reload(self) -> None:
        """Read the edition in force, unless that was read meanwhile. In any thread."""
        with self._reading:
            number = self._page.number()
            if number == self._read and self._lacks_since is None:
                return
            findings = self._holder.reload(keeps=True)
            # Files that cannot be used now are not read again for each request.
            self._read, self._tried_at = number, self._page.now()
            is_first = self._lacks_since is None
            if not isinstance(findings, tuple):
                self._lacks_since = None
            elif is_first:
                self._lacks_since = self._tried_at
        if isinstance(findings, tuple) and is_first:
            # The parent has just found them valid: a new credential's file may have gone, or no more files may be open.
            self._log.error(
                "a worker cannot read the policies in force, and refuses writes if that lasts",
                pid=os.getpid(),
                finding=str(findings[0]),
                lasts_s=SILENT_AFTER_S,
            )

    def _suspend(self, refused: Refused) -> RuleSet:
        current = self._holder.current
        if self._suspended is None and refused is NOBODY_LOOKS:
            self._log.error(
                "the parent process does not say whether the policies are in force: writes are refused until it does",
                pid=os.getpid(),
                silent_s=SILENT_AFTER_S,
            )
        if self._suspended is None or self._suspended[0] is not current:
            current.suspend()
            self._suspended = current, current.refusing(refused)
        return self._suspended[1]

    def _resume(self, former: RuleSet) -> None:
        self._suspended = None
        former.resume()
        self._log.info("the policies are known to be in force again: writes are taken", pid=os.getpid())
