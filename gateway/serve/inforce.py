"""A worker's policies: the edition in force, and never an earlier one after its time."""

import os
from threading import Lock

from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.policy.ruleset import RuleSet
from gateway.serve.edition import NUMBER, Page


class InForce:
    """The rule set by which requests are judged. `read` is the number of the page that the holder was opened at."""

    def __init__(self, holder: PolicyHolder, page: Page, read: bytes, log: Log) -> None:
        self._holder = holder
        self._page = page
        self._shared = page.shared
        self._read = read
        self._log = log
        self._reading = Lock()

    def __call__(self) -> RuleSet:
        """On each request. It reads the files itself, and all others wait, only where nobody else did in time."""
        if self._shared[:NUMBER] != self._read and self._page.is_due():
            self.reload()
        return self._holder.current

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
