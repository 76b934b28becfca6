"""What the gateway says about an answer that it passes on."""

from dataclasses import field

from gateway.core.decision import Decision
from gateway.core.frozen import frozen
from gateway.core.intent import IntentId
from gateway.core.outcome import Outcome


@frozen
class Marks:
    """In its header fields, and in the log. `intent` is for the log only.

    `would`: what the decision about an observed write would have been; `why`: for the log, with what it would have
    been refused. `session`: how the session ended that the answer began, for the log. `elsewhere_s`: how much of the
    request's time was its upstream's, or was spent in waiting for other writes; None where that says nothing of the
    gateway. It changes nothing of an answer.
    """

    decision: Decision
    epoch: int | None = None
    outcome: Outcome | None = None
    revision: int | None = None
    intent: IntentId | None = None
    would: Decision | None = None
    why: str | None = None
    session: str | None = None
    elsewhere_s: float | None = field(default=None, compare=False)
