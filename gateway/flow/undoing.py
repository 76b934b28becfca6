"""A write with what would take it back: its rule's compensation, filled from its request and later from its answer."""

from dataclasses import replace

from gateway.core.caller import Caller
from gateway.core.request import Request
from gateway.core.write import Write
from gateway.policy.match import Matched


def undoable(write: Write, matched: Matched, judged: Request, caller: Caller) -> Write:
    """The write with its rule's compensation, if it has one, as far as its request fills it."""
    compensation = matched.entry.compensation
    if compensation is None:
        return write
    return replace(write, compensating=compensation.begin(judged, matched.path, caller, matched.body))
