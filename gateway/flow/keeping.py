"""What is kept of an answer while it passes, and what the answer says of its write."""

from gateway.core.coding import decoded
from gateway.core.decision import Refused
from gateway.core.intent import KeptAnswer, keep_answer
from gateway.core.outcome import Outcome, Replied, judge
from gateway.core.request import HeaderPairs, Headers
from gateway.core.write import Write
from gateway.policy.jsonrpc import asks_for_input


class Keeping:
    """Collects an answer's body up to the rule's `store_response`; nothing where the write is no intent."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._pieces: list[bytes] | None = None if write.intent is None else []
        self._left = self.limit

    @property
    def limit(self) -> int:
        """Bytes of a body that is kept at most."""
        return 0 if self._write.intent is None else self._write.rule.intent.store_response

    def add(self, piece: bytes | None) -> None:
        """The next piece of the body; None for one that is too large."""
        if self._pieces is None:
            return
        self._left -= 0 if piece is None else len(piece)
        if piece is None or self._left < 0:
            self._pieces = None
        else:
            self._pieces.append(piece)

    def judge(self, status: int, headers: HeaderPairs) -> Outcome:
        """What a whole answer proves. One that asks for more input does not end its intent: nothing was done yet."""
        outcome = judge(self._write.rule.upstream.outcomes, Replied(status, complete=True))
        if outcome == "applied" and self._pieces and self._asks_for_input(status, Headers(headers)):
            return "not_applied"
        return outcome

    def _asks_for_input(self, status: int, headers: Headers) -> bool:
        plain = decoded(b"".join(self._pieces or ()), headers.all(b"content-encoding"), self.limit)
        if isinstance(plain, Refused):
            return False
        return asks_for_input(status, headers.first(b"content-type") or b"", plain)

    def kept(self, status: int, headers: HeaderPairs, outcome: Outcome) -> KeptAnswer | None:
        """The answer for repeats of an intent that was applied; None where it was too large."""
        if self._pieces is None or outcome != "applied":
            return None
        return keep_answer(status, headers, b"".join(self._pieces), self._write.rule.upstream.replay_headers)
