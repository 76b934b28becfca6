"""What is kept of an answer while it passes, and what the answer says of its write."""

from collections.abc import Callable

from gateway.core.compensation import Kept, Undoable
from gateway.core.intent import KeptAnswer, keep_answer
from gateway.core.outcome import BY_INTERMEDIARIES, Outcome, Replied, judge
from gateway.core.request import HeaderPairs
from gateway.core.write import Write
from gateway.flow.own_id import OwnId, Restoring, restored
from gateway.policy.reading.graphql_answer import RefusalReader
from gateway.policy.reading.jsonrpc_reader import MOST, AnswerReader


def never() -> bool:
    return False


# An answer's fields as agents are told them, and as the upstream spells them.
Told = tuple[HeaderPairs, HeaderPairs]


class Keeping:
    """Collects an answer's body up to the rule's `store_response`; nothing where nobody would look at it.

    What takes the write back is told to the upstream as it spells its fields, and not to agents. `own_id`: under which
    the call was sent. `is_early`: whether not all of the request has left by now.
    """

    def __init__(
        self,
        write: Write,
        status: int,
        headers: Told,
        own_id: OwnId | None = None,
        is_early: Callable[[], bool] = never,
    ) -> None:
        self._write = write
        self._status = status
        self._headers, self._own_headers = headers
        self._own_id = own_id
        self._restoring = None if own_id is None else Restoring()
        plain = self._of_status(status)
        # Whoever passes the request on may have refused the rest of it, while the API is at work on its beginning.
        self._plain: Outcome = "unknown" if is_early() and plain == "not_applied" else plain
        self._is_early = is_early
        # Only an MCP server's answer is read: any other API may answer with what an agent wrote into it.
        self._reader = self._answers() if write.rule.upstream.protocol == "mcp" else None
        # But for what takes a proof away: that an agent may write.
        self._refusal = RefusalReader(self._headers) if write.is_graphql and self._plain == "not_applied" else None
        self._pieces: list[bytes] | None = None if write.intent is None else []
        self._left = write.rule.intent.store_response
        self._answers_others = False
        self.is_over = False
        """Whether its whole answer tells that its server is done with it."""

    def take(self, piece: bytes) -> bytes:
        """The next piece of the body; returns what its caller is given by now, under the id that its call had."""
        self.add(piece)
        return piece if self._restoring is None else self._restoring.feed(piece)

    def rest(self) -> bytes:
        """What its caller is given behind the last piece."""
        return b"" if self._restoring is None else self._restoring.rest()

    def add(self, piece: bytes | None) -> None:
        """The next piece of the body, of which nobody is given anything; None for one that is too large."""
        if self._reader is not None:
            self._reader.add(piece)
        if self._refusal is not None:
            self._refusal.add(piece)
        if self._pieces is None:
            return
        self._left -= 0 if piece is None else len(piece)
        if piece is None or self._left < 0:
            self._pieces = None
        else:
            self._pieces.append(piece)

    def foretell(self) -> Outcome | None:
        """The outcome, before the body is whole; None where the rest of it tells."""
        is_read = self._reader is not None or self._refusal is not None or self._is_early()
        return None if is_read and self._plain != "unknown" else self._plain

    @property
    def lacks_answer(self) -> bool:
        """Of a stream that breaks off: whether one event more can tell its caller what became of the call."""
        return self._reader is not None and self._reader.lacks_answer

    def concluded(self) -> tuple[Outcome, Kept | None]:
        """What a whole answer proves, and what is kept of it."""
        outcome, is_heard = self._judge()
        # A server ends the answer to a call, too, when its session is closed, and lets its tool go on.
        self.is_over = is_heard and not self._is_early() and self._status not in BY_INTERMEDIARIES
        return outcome, self._kept(outcome)

    def _judge(self) -> tuple[Outcome, bool]:
        """The outcome, and whether the write itself was answered.

        A refusal of a call in which the call is not named comes from what stands before the tools.
        """
        # Of what was not given whole, no answer is about all.
        outcome: Outcome = "unknown" if self._is_early() else self._plain
        if self._refusal is not None and not self._refusal.proves_something:
            return "unknown", True
        if self._reader is None:
            return outcome, True
        said = self._reader.said()
        self._answers_others = not said.alone
        is_refused = outcome == "not_applied" and said.is_refusal
        is_heard = not said.is_unheard or is_refused
        if outcome == "unknown" or is_refused:
            return outcome, is_heard
        return "unknown" if said.status is None else self._of_status(said.status), is_heard

    def _of_status(self, status: int) -> Outcome:
        return judge(self._write.rule.upstream.outcomes, Replied(status, complete=True))

    def _answers(self) -> AnswerReader:
        call = self._write.call
        id = self._own_id.id if self._own_id is not None else None if call is None else call.id
        return AnswerReader(id, self._status, self._headers)

    def _kept(self, outcome: Outcome) -> Kept | None:
        """The answer for repeats of an intent that was applied, None where it was too large or answers other calls too;
        with the request that would take the write back, where the rule has one. Of what is sent later also a refusal.
        """
        is_told = outcome == "applied" or (outcome == "not_applied" and self._write.rule.parks is not None)
        if self._write.intent is None or not is_told:
            return None
        body = self._last_event() if self._pieces is None else b"".join(self._pieces)
        if body is not None and self._own_id is not None:
            body = restored(body)
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
    return max(kept, MOST) if write.is_graphql or write.rule.upstream.protocol == "mcp" else kept
