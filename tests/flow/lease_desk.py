"""The lease calls over a scripted store, and what is asked of them."""

import asyncio
from dataclasses import replace

from gateway.core.decision import LEASE_HELD, LEASE_LOST, TOKEN_INVALID, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.lease import LeaseMark, LeaseSecret
from gateway.core.places import Places
from gateway.flow.clock import BootClock
from gateway.flow.lease import Ask, Granted, Leases
from gateway.flow.quota import Quotas
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from tests.playbook.caller import ScriptedCaller
from tests.playbook.given import RESOURCE
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedQuotas, ScriptedStore

SECRET = "abcdefghijklmnopqrst-_"
FRESH = LeaseSecret("Z" * 22, LeaseMark(b"k" * 32))
AGAIN = LeaseSecret("Z" * 22, LeaseMark(b"k" * 32, repeats=True))
HELD, LOST, INVALID = Refused(LEASE_HELD, "d"), Refused(LEASE_LOST, "d"), Refused(TOKEN_INVALID, "d")
AWAY = StoreUnavailable("away")
NOW = Ask(RESOURCE, "b", 60_000)
PATIENT = replace(NOW, wait_s=3_600)


class Desk:
    """The lease calls over a scripted store."""

    def __init__(self, *, gone: tuple[bool, ...] = (), used: tuple[object, ...] = (), **scripts: list[object]) -> None:
        self.said, self.wakes, self.tasks = Transcript(), Wakes(), Tasks()
        self.caller = ScriptedCaller(self.said, gone=gone)
        store = ScriptedStore(self.said, **scripts)
        self.use = ScriptedQuotas(self.said, *used)
        quotas = Quotas(self.use, self.tasks)
        self.leases = Leases(store, BootClock(), self.wakes, self.tasks, quotas, lambda: SECRET, Places(2))

    async def grant(self, ask: Ask) -> Granted | Refused:
        """Every wait is ended by a wake-up at once."""
        self.wakes.on_wake(None)
        granting = asyncio.ensure_future(self.leases.grant(ask, self.caller.is_gone))
        while not granting.done():
            self.wakes.on_wake(RESOURCE)
            await asyncio.wait((granting,), timeout=0)
        assert self.wakes._interests == {}
        return await granting
