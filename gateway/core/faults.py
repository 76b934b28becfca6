"""The few things that are raised, because whoever called cannot go on; everything expected is a value."""


class StoreUnavailable(Exception):
    """The store did not answer in time, or answered that it cannot serve; whether a script ran is not known."""


class PartUnavailable(StoreUnavailable):
    """Some of the store's servers, which are named, did not answer; the others did."""


class CallerGone(Exception):
    """The caller closed its connection, or broke off its body, before the request was whole."""


class PoliciesChanged(Exception):
    """What judged a request is no longer in force, and the request had to wait: it is to be judged anew."""


class BodyTooLarge(Exception):
    """The caller's body is larger than may be held or passed on."""


class NoRoom(Exception):
    """The disk does not take the caller's body: it is full, or cannot be written. Nothing of the request was sent."""


class BrokenAnswer(Exception):
    """The upstream's answer broke off: reset, malformed, or not in time."""
