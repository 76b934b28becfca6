"""One agent's request and the answer to it, in our own types: nothing of a web framework goes further than the edge."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import field

from gateway.core.arrival import Arrival
from gateway.core.field_name import respelled_names
from gateway.core.frozen import frozen
from gateway.core.target import Target
from gateway.core.trace import Step, Trace
from gateway.core.trace_context import read_trace_context

HeaderPairs = tuple[tuple[bytes, bytes], ...]


class Headers:
    """Header fields as they came: order, spelling and repetition kept; looked up by lower-case name."""

    __slots__ = ("_first", "_repeated", "_respelled", "first", "pairs")

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self.pairs: HeaderPairs = tuple(pairs)
        self._first = {name.lower(): value for name, value in self.pairs}
        self._repeated: dict[bytes, list[bytes]] = {}
        self._respelled: frozenset[bytes] | None = None
        if len(self._first) < len(self.pairs):
            # Few requests repeat a name, so that only for those a list is made of each name's values.
            every = _values_by_name(self.pairs)
            self._first = {name: values[0] for name, values in every.items()}
            self._repeated = {name: values for name, values in every.items() if len(values) > 1}
        self.first: Callable[[bytes], bytes | None] = self._first.get
        """The first value of the field of this name (lower case). Each request is asked for a dozen."""

    def all(self, name: bytes) -> list[bytes]:
        """Every value of the field `name` (lower case), in order."""
        if name in self._repeated:
            return self._repeated[name]
        return [self._first[name]] if name in self._first else []

    def repeated(self) -> Collection[bytes]:
        """The lower-case names that occur more than once."""
        return self._repeated

    def respelled(self) -> frozenset[bytes]:
        """The names with an underscore, a dot or another such character, as those read them to whom each is a dash."""
        if self._respelled is None:
            self._respelled = respelled_names(self._first)
        return self._respelled

    def names(self) -> Collection[bytes]:
        """The lower-case names that occur."""
        return self._first


def _values_by_name(pairs: HeaderPairs) -> dict[bytes, list[bytes]]:
    values: dict[bytes, list[bytes]] = {}
    for name, value in pairs:
        values.setdefault(name.lower(), []).append(value)
    return values


@frozen
class Request:
    """A request as far as a decision needs it. `body` is there only where a rule had to read it.

    `arrival` is how it came here; None for one of the gateway's own. `trace`: None where nothing is traced.
    """

    method: str
    target: Target
    headers: Headers
    body: bytes | None = field(default=None, repr=False)
    arrival: Arrival | None = None
    trace: Trace | None = field(default=None, repr=False, compare=False)

    @property
    def trace_id(self) -> str:
        """Of the trace that it belongs to, 32 hexadecimal digits; empty where it names none and nothing is traced."""
        if self.trace is not None:
            return self.trace.id
        came = read_trace_context(self.headers.all(b"traceparent"), [])
        return "" if came is None else came.trace_id

    def enter(self, step: Step) -> None:
        """A step of it begins, which only matters where it is traced."""
        if self.trace is not None:
            self.trace.enter(step)
