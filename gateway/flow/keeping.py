"""What is kept of an answer while it passes, and what the answer says of its write."""

from gateway.core.compensation import Kept, Undoable
from gateway.core.intent import KeptAnswer, keep_answer
from gateway.core.outcome import Outcome, Replied, judge
from gateway.core.request import HeaderPairs
from gateway.core.write import Write
from gateway.policy.reading.jsonrpc_reader import MOST, AnswerReader


class Keeping:
    """Collects an answer's body up to the rule's `store_response`; nothing where nobody would look at it.

    `own_headers`: as the upstream spells them. What takes the write back is told to it, and not to agents.
    """

    def __init__(self, write: Write, status: int, headers: HeaderPairs, own_headers: HeaderPairs | None = None) -> None:
        self._write = write
        self._status = status
        self._headers = headers
        self._own_headers = headers if own_headers is None else own_headers
        # Only an MCP server's answer is read: any other API may answer with what an agent wrote into it.
        self._reader = AnswerReader(write.call, status, headers) if write.rule.upstream.protocol == "mcp" else None
        self._pieces: list[bytes] | None = None if write.intent is None else []
        self._left = write.rule.intent.store_response
        self._answers_others = False

    def add(self, piece: bytes | None) -> None:
        """The next piece of the body; None for one that is too large."""
        if self._reader is not None:
            self._reader.add(piece)
        if self._pieces is None:
            return
        self._left -= 0 if piece is None else len(piece)
        if piece is None or self._left < 0:
            self._pieces = None
        else:
            self._pieces.append(piece)

    def foretell(self) -> Outcome | None:
        """The outcome, before the body is whole; None where the rest of it tells."""
        outcome = self._of_status(self._status)
        return outcome if self._reader is None or outcome == "unknown" else None

    @property
    def lacks_answer(self) -> bool:
        """Of a stream that breaks off: whether one event more can tell its caller what became of the call."""
        return self._reader is not None and self._reader.lacks_answer

    def concluded(self) -> tuple[Outcome, Kept | None]:
        """What a whole answer proves, and what is kept of it."""
        outcome = self._judge()
        return outcome, self._kept(outcome)

    def _judge(self) -> Outcome:
        """A refusal of a call in which the call is not named comes from what stands before the tools.

        One that asks for more input does not end its intent: nothing was done yet.
        """
        outcome = self._of_status(self._status)
        if outcome == "unknown" or self._reader is None:
            return outcome
        said = self._reader.said()
        self._answers_others = not said.alone
        if outcome == "not_applied" and said.is_silent:
            return outcome
        if said.asks and self._write.intent is not None:
            return "not_applied"
        return "unknown" if said.status is None else self._of_status(said.status)

    def _of_status(self, status: int) -> Outcome:
        return judge(self._write.rule.upstream.outcomes, Replied(status, complete=True))

    def _kept(self, outcome: Outcome) -> Kept | None:
        """The answer for repeats of an intent that was applied, None where it was too large or answers other calls too;
        with the request that would take the write back, where the rule has one. Of what is sent later also a refusal.
        """
        is_told = outcome == "applied" or (outcome == "not_applied" and self._write.rule.parks is not None)
        if self._write.intent is None or not is_told:
            return None
        body = self._last_event() if self._pieces is None else b"".join(self._pieces)
        answer: KeptAnswer | None = None
        # With another id it would answer a repeat; two answers with that id would be one too many.
        if body is not None and not self._answers_others:
            answer = keep_answer(self._status, self._headers, body, self._write.rule.upstream.replay_headers)
        compensating = self._write.compensating
        if compensating is None or outcome != "applied":
            return answer
        return Undoable(answer, compensating.render(self._own_headers, body))

    def _last_event(self) -> bytes | None:
        """Of a stream too long to be kept, the event with the answer: what came before it was for who waited."""
        own = None if self._reader is None else self._reader.own
        event = b"" if own is None else b"data: " + own + b"\n\n"
        return event if 0 < len(event) <= self._write.rule.intent.store_response else None


def most_read(write: Write) -> int:
    """Bytes of a body that are looked at, at most."""
    kept = 0 if write.intent is None else write.rule.intent.store_response
    return max(kept, MOST) if write.rule.upstream.protocol == "mcp" else kept
