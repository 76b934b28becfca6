"""What is kept of an answer while it passes, and what the answer says of its write."""

from gateway.core.coding import decoded
from gateway.core.compensation import Kept, Undoable
from gateway.core.decision import Refused
from gateway.core.intent import KeptAnswer, keep_answer
from gateway.core.outcome import Outcome, Replied, judge
from gateway.core.request import HeaderPairs, Headers
from gateway.core.rule import Outcomes
from gateway.core.write import Write
from gateway.policy.jsonrpc_answer import said_of

# Of an MCP answer so much is read, to tell an error from a result; what is larger is no error.
_READ = 64 << 10


class Keeping:
    """Collects an answer's body up to the rule's `store_response`; nothing where nobody would look at it."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._is_mcp = write.rule.upstream.protocol == "mcp"
        self._pieces: list[bytes] | None = [] if self._is_mcp or write.intent is not None else None
        self._left = self.limit
        self._answers_others = False

    @property
    def limit(self) -> int:
        """Bytes of a body that is collected at most."""
        return max(self._storable, _READ if self._is_mcp else 0)

    @property
    def _storable(self) -> int:
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

    def foretell(self, status: int, headers: HeaderPairs) -> Outcome | None:
        """As `judge`, before the body is whole; None where the rest of it tells."""
        if self._is_mcp and judge(self._outcomes, Replied(status, complete=True)) == "applied":
            return None
        return self.judge(status, headers)

    def judge(self, status: int, headers: HeaderPairs) -> Outcome:
        """What a whole answer proves. One that asks for more input does not end its intent: nothing was done yet."""
        outcome = judge(self._outcomes, Replied(status, complete=True))
        # Only an MCP server's answer is read: any other API may answer with what an agent wrote into it.
        if outcome != "applied" or not self._is_mcp or not self._pieces:
            return outcome
        fields = Headers(headers)
        plain = decoded(b"".join(self._pieces), fields.all(b"content-encoding"), self.limit)
        if isinstance(plain, Refused):
            # Too large to be an error, or in a coding of which only its caller knows: its status is all there is.
            return outcome
        said = said_of(self._write.call, status, fields.first(b"content-type") or b"", plain)
        self._answers_others = not said.alone
        if said.asks and self._write.intent is not None:
            return "not_applied"
        return "unknown" if said.status is None else judge(self._outcomes, Replied(said.status, complete=True))

    @property
    def _outcomes(self) -> Outcomes:
        return self._write.rule.upstream.outcomes

    def kept(self, status: int, headers: HeaderPairs, outcome: Outcome) -> Kept | None:
        """The answer for repeats of an intent that was applied, None where it was too large or answers other calls too;
        with the request that would take the write back, where the rule has one. Of what is sent later also a refusal.
        """
        is_told = outcome == "applied" or (outcome == "not_applied" and self._write.rule.parks is not None)
        if self._write.intent is None or not is_told:
            return None
        body = None if self._pieces is None else b"".join(self._pieces)
        answer: KeptAnswer | None = None
        # With another id it would answer a repeat; two answers with that id would be one too many.
        if body is not None and len(body) <= self._storable and not self._answers_others:
            answer = keep_answer(status, headers, body, self._write.rule.upstream.replay_headers)
        compensating = self._write.compensating
        if compensating is None or outcome != "applied":
            return answer
        return Undoable(answer, compensating.render(headers, body))
