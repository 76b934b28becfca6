"""Faults that are planted into a copy of the package, each with a scenario that must find it.

A mutant is text that is replaced by other text, in files of the package. Where the text is no longer there the mutant
has to be planted anew: it never runs unplanted.
"""

import dataclasses
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.history.child import ROOT
from tests.history.plan import Fault, Plan


class Unplantable(Exception):
    """The text that a mutant replaces is not there, or is there more than once."""


@dataclass(frozen=True, slots=True)
class Change:
    """`old` stands once in the file, and is replaced."""

    file: str
    old: str
    new: str

    def planted(self, package: Path) -> str:
        """The file's text with the fault in it. Raises Unplantable."""
        text = (package / self.file).read_text()
        if text.count(self.old) != 1:
            raise Unplantable(f"{self.file} has {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Mutant:
    """`found_as`: beginnings of the rules of which at least one must be broken. `plan`: the scenario."""

    name: str
    changes: Sequence[Change]
    plan: Plan
    found_as: Sequence[str]


def plant(mutant: Mutant, directory: Path) -> Path:
    """A copy of the package with the fault in it: the tree to run. Raises Unplantable."""
    tree = directory / "tree"
    shutil.copytree(ROOT / "gateway", tree / "gateway", ignore=shutil.ignore_patterns("__pycache__"))
    for change in mutant.changes:
        (tree / "gateway" / change.file).write_text(change.planted(tree / "gateway"))
    return tree


_CALM = Plan(seed=7, seconds=8.0, agents=12, resources=3, families=("serial",), fates={"done": 1, "slow": 3})
# Gateways that stop until a newer write has been admitted without them: a write's life, its grace, and a second.
_STOPS = tuple(Fault(1.5 + 6.0 * turn, "stop-workers", turn, 4.5) for turn in range(4))

BARRIER_OUT = Mutant(
    "a newer write does not wait for older ones in flight",
    (
        Change(
            "store/scripts/admit.lua",
            "if older > 0 or fence.g then\n  return wait('wait-older', due)\nend\n",
            "",
        ),
    ),
    _CALM,
    ("two writes were under way at once",),
)

CHECKED_IN_PYTHON = Mutant(
    "the epoch is compared in Python, with what this process has seen",
    (
        Change(
            "store/scripts/parts/epoch.lua",
            "if e and epochs.less(mine, e) then\n    return 'stale-epoch'\n  end\n",
            "if e and epochs.less(mine, e) then\n    return nil\n  end\n",
        ),
        Change(
            "store/scripts/admit.lua",
            "local raises = mine ~= fence.e\n",
            "local raises = mine ~= fence.e and not (fence.e and epochs.less(mine, fence.e))\n",
        ),
        Change(
            "store/fence.py",
            "    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int)"
            " -> AdmitReply:\n",
            "    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int)"
            " -> AdmitReply:\n"
            "        if write.epoch < self._acknowledged.largest(write.resource):\n"
            "            from gateway.core.decision import STALE_EPOCH\n"
            '            return Refused(STALE_EPOCH, "Not forwarded: as far as this process has seen.")\n',
        ),
    ),
    dataclasses.replace(_CALM, families=("serial", "bare")),
    ("an older write began", "a write was forwarded after a newer lease"),
)

KEY_FREED = Mutant(
    "what got no answer counts as not applied",
    (
        Change(
            "core/outcome.py",
            'case NoReply():\n            return "unknown"',
            'case NoReply():\n            return "not_applied"',
        ),
    ),
    dataclasses.replace(_CALM, fates={"done": 2, "cut": 1}),
    ("an intent took effect twice", "a write was executed, and the table says that it was not"),
)

SENT_LATE = Mutant(
    "a write is sent whatever its deadline",
    (
        Change(
            "upstream/sender.py",
            "        if self._clock.left(self._sending.deadline) <= 0:\n            raise PastDeadline\n",
            "",
        ),
        # What waited for its body would be admitted anew.
        Change("upstream/sender.py", "_BEGINS_SOON_S = 0.5\n", "_BEGINS_SOON_S = 3600.0\n"),
        # The timer that ends an attempt at its deadline would close the connection of what is sent late.
        Change(
            "upstream/sender.py",
            "        if self._clock.left(self._sending.deadline) > 0:\n            self._timer = self._arm()\n",
            "        if not self._sent_whole or self._clock.left(self._sending.deadline) > 0:\n"
            "            self._timer = self._arm()\n",
        ),
    ),
    dataclasses.replace(_CALM, seconds=25.0, agents=32, resources=5, faults=_STOPS, fates={"done": 1}, dribbled=0.7),
    ("an older write began", "an older write was completed", "two writes were under way"),
)

SETTLE_LOST = Mutant(
    "an outcome is not recorded",
    (
        Change(
            "flow/ticket.py",
            "            settled = await self._store.settle("
            "self.admitted, outcome, reason, kept, unfinished=self._is_unfinished)\n        except",
            "            return None\n        except",
        ),
    ),
    dataclasses.replace(_CALM, fates={"done": 1}),
    ("a caller was told that it is applied",),
)

SENT_AGAIN = Mutant(
    "a request is sent again where its connection was lost",
    (
        Change(
            "upstream/sender.py",
            "        if isinstance(result, NoReply) and attempt.is_overdue",
            '        if isinstance(result, NoReply) and result.cause == "closed" and body.rewind():\n'
            "            attempt.concluded(result)\n"
            "            attempt = await self._attempt(_Sending(upstream, request, write, body, deadline))\n"
            "            if isinstance(attempt, NotSent):\n"
            "                return result\n"
            "            result = await attempt.run()\n"
            "        if isinstance(result, NoReply) and attempt.is_overdue",
        ),
    ),
    dataclasses.replace(_CALM, fates={"done": 2, "cut": 1}),
    ("an intent took effect twice",),
)

LOSS_UNSEEN = Mutant(
    "a promoted server is not asked for what was acknowledged",
    (
        Change(
            "store/loss/incarnation.py",
            "            here = await self._check_all(connection)\n",
            "            here: list[str] = []\n",
        ),
    ),
    Plan(
        *(7, 20.0),
        faults=tuple(Fault(at, "lose-primary", 0, 3.0) for at in (2.0, 12.0)),
        fates={"done": 1},
        topology="sentinel",
    ),
    ("an intent took effect twice", "a write was executed, and the table has nothing", "the audit trail has fewer"),
)

MUTANTS = (BARRIER_OUT, CHECKED_IN_PYTHON, KEY_FREED, SENT_LATE, SETTLE_LOST, SENT_AGAIN, LOSS_UNSEEN)
