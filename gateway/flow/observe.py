"""Writes that are only observed: forwarded although they would not have been, with what would have been decided.

They have no ticket: nothing is promised of them, nothing waits for them, and whether they happened is not recorded.
An observed write that is admitted goes the way of all others, so that the records are what they would be.
"""

import asyncio
from dataclasses import dataclass
from functools import partial

from gateway.core.clock import Clock
from gateway.core.coding import over_stream_limit
from gateway.core.decision import OBSERVED, OUTCOME_UNKNOWN, PAUSED, UPSTREAM_UNREACHABLE, Decision, Facts, Refused
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.faults import BrokenAnswer, PoliciesChanged, StoreUnavailable
from gateway.core.outcome import NoReply, NotSent
from gateway.core.places import overloaded
from gateway.core.request import Request
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey, Write
from gateway.flow.admission import RETRY_AFTER_S
from gateway.flow.marks import Marks
from gateway.flow.ports import BodySource, Caller, Observer, Sender, Store
from gateway.flow.read import relay
from gateway.flow.standing import Standing


@dataclass(frozen=True, slots=True)
class Observed:
    """A write of a rule in `mode: observe` and what would have been decided; `epoch`, if its token was of the form.

    `why` is for the log.
    """

    rule: Rule
    would: Decision
    epoch: Epoch | None = None
    why: str | None = None


class Observing:
    """Passes observed writes on. `standing`: None where nobody's right can change."""

    def __init__(
        self, store: Store, sender: Sender, clock: Clock, observer: Observer, standing: Standing | None = None
    ) -> None:
        self._store = store
        self._sender = sender
        self._clock = clock
        self._observer = observer
        self._standing = standing

    async def stopped(self, rule: Rule, resource: ResourceKey) -> Refused | None:
        """A pause of the resource: it stops writes that never come before the fence too.

        A store that is away stops nothing here.
        """
        try:
            refused = await self._store.peek(Write(rule, resource, Epoch(HIGHEST), None, None))
        except StoreUnavailable:
            return None
        return refused if refused is not None and refused.decision is PAUSED else None

    async def run(self, observed: Observed, request: Request, body: BodySource, caller: Caller) -> Marks | Refused:
        """Forward once; returns what the caller was told. Raises PoliciesChanged when its rule is no longer in force
        behind all that was asked before: its body and the store's answer may have been long in coming.
        """
        upstream = observed.rule.upstream
        if upstream.term.is_over:
            raise PoliciesChanged
        began = self._clock.boot()
        self._observer.sent(upstream)
        request.enter("forward")
        try:
            caller.proceed()
            answer = await self._sender.pass_on(upstream, request, body)
            if isinstance(answer, NotSent | NoReply):
                return _failed(observed.rule, answer, caller)
            marks = Marks(OBSERVED, observed.epoch, would=observed.would, why=observed.why)
            try:
                is_known = None if self._standing is None else partial(self._standing.is_known, request.headers)
                await relay(upstream, marks, answer, caller, is_known)
            except BrokenAnswer as broken:
                return _failed(observed.rule, NoReply("closed", str(broken)), caller)
            finally:
                answer.close()
            return marks
        except asyncio.CancelledError:
            # The gateway is stopped and can wait no longer.
            if not caller.has_begun():
                _failed(observed.rule, NoReply("closed", "the gateway was stopped"), caller)
            raise
        finally:
            self._observer.ended(upstream, self._clock.boot() - began)


def _failed(rule: Rule, evidence: NotSent | NoReply, caller: Caller) -> Refused:
    if isinstance(evidence, NoReply):
        detail = "The write was sent and may or may not have happened. Do not send it again; look at the resource."
        refused = Refused(OUTCOME_UNKNOWN, detail, why=evidence.detail)
    elif evidence.cause == "too-large":
        refused = over_stream_limit(rule)
    elif evidence.cause == "crowded":
        refused = overloaded(why=evidence.detail)
    else:
        detail = "Not forwarded: nothing of the request was sent. Retry."
        refused = Refused(UPSTREAM_UNREACHABLE, detail, Facts(retry_after_s=RETRY_AFTER_S), evidence.detail)
    caller.refuse(refused)
    return refused
