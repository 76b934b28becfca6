"""What an upstream behind the gateway saw, and what callers were answered, held against what was sent."""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from tests.fuzz.allowed import READS, Seen, allow, stripped
from tests.fuzz.leases import Leases
from tests.fuzz.reader import Message

# A request that was accepted may be forwarded after its caller has left; so many conversations later it is not.
_REMEMBERED = 4_000
# Whose resource is in no path.
_UNPATHED = (b"/tasks", b"/forms", b"/mcp", b"/mcp/", b"/boards", b"/cards")

_Intent = tuple[bytes, bytes, bytes]


@dataclass
class Oracle:
    """Counts every request that may be seen, once."""

    leases: Leases
    seen: int = 0
    writes: int = 0
    found: list[str] = field(default_factory=list)
    _allowed: Counter[Seen] = field(default_factory=Counter)
    _sent: deque[list[Seen]] = field(default_factory=deque)
    _ran: set[_Intent] = field(default_factory=set)
    _named: defaultdict[bytes | None, set[_Intent]] = field(default_factory=lambda: defaultdict(set))
    _numbers: defaultdict[_Intent, set[bytes | None]] = field(default_factory=lambda: defaultdict(set))
    _epochs: dict[bytes, int] = field(default_factory=dict)

    def sending(self, messages: list[Message]) -> None:
        """These are about to leave, as a strict reader finds them in the bytes."""
        allowed = [seen for message in messages if (seen := allow(message, self.leases)) is not None]
        self._allowed.update(allowed)
        for message in messages:
            number = stripped(message, []).number
            for intent in _intents(message):
                self._numbers[intent].add(number)
                self._named[number].add(intent)
        self._sent.append(allowed)
        if len(self._sent) > _REMEMBERED:
            for old in self._sent.popleft():
                if self._allowed[old] <= 1:
                    del self._allowed[old]
                else:
                    self._allowed[old] -= 1

    def saw(self, message: Message) -> None:
        """The upstream has this request whole, and acts on it."""
        self.seen += 1
        epochs = message.values(b"x-fencing-token")
        seen = stripped(message, epochs)
        if self._allowed[seen] <= 0:
            self.found.append(f"the upstream saw what nobody may send: {seen}")
            return
        self._allowed[seen] -= 1
        if message.method not in READS and epochs:
            self.writes += 1
            self._ordered(message, int(epochs[0]))

    def answered(self, message: Message, decision: str, number: bytes) -> None:
        """A caller was given the API's answer to the request of this number."""
        expected = {stripped(message, []).number}
        if decision == "replayed":
            expected = set().union(*(self._numbers[intent] for intent in _intents(message)))
        if number not in {one or b"" for one in expected}:
            self.found.append(f"{message} was {decision} with the answer to {number!r}")

    def _ordered(self, message: Message, epoch: int) -> None:
        path = unquote_to_bytes(message.target.partition(b"?")[0])
        if epoch < self._epochs.get(path, 0):
            self.found.append(f"epoch {epoch!r} was forwarded to {path!r} after {self._epochs[path]}")
        if path not in _UNPATHED:
            self._epochs[path] = epoch
        # The key itself does not reach the upstream.
        for intent in self._named[stripped(message, []).number]:
            if path.startswith(b"/reports/") and intent in self._ran:
                self.found.append(f"an intent ran twice: {intent}")
            self._ran.add(intent)


def _intents(message: Message) -> list[_Intent]:
    return [(message.method, message.target, key.strip(b'"')) for key in message.values(b"idempotency-key")]
