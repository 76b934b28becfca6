"""What is told of a request, and to whom."""

from typing import Protocol

from gateway.core.frozen import frozen
from gateway.core.trace import Trace
from gateway.flow.gate import Ended


@frozen
class Asked:
    """What is told of a request itself. `path` has no query; `client` is the first hop that is no trusted proxy;
    `waited_s`: for its body, before it was judged. `trace`: None where nothing is traced.
    """

    method: str = "-"
    path: str = "-"
    client: str | None = None
    waited_s: float = 0.0
    trace: Trace | None = None


class Observer(Protocol):
    """Who is told what became of each request."""

    def answered(self, ended: Ended, asked: Asked, status: int, seconds: float) -> None: ...

    def unanswered(self, trace: Trace, asked: Asked) -> None:
        """A request that is traced has ended otherwise: its caller has left, or it failed or was interrupted."""
        ...

    def failed(self, error: BaseException) -> None:
        """A bug: the request was answered with 500, or cut off."""
        ...
