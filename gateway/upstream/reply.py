"""What came of a request: an answer that is still read, and the connection that it comes over."""

from collections.abc import Callable

from gateway.core.request import HeaderPairs
from gateway.upstream.exchange import Exchange


class Reply:
    """Implements `ports.Answer`: an exchange whose head has come, and the way back for its connection.

    `is_whole`: whether all of its request has left by now.
    """

    __slots__ = (
        "_exchange",
        "_give_back",
        "_is_whole",
        "headers",
        "is_stream",
        "own_headers",
        "read",
        "read_small",
        "reason",
        "status",
    )

    def __init__(
        self, exchange: Exchange, give_back: Callable[[bool], None], is_whole: Callable[[], bool] = lambda: True
    ) -> None:
        self._exchange = exchange
        self._give_back = give_back
        self.status: int = exchange.status
        self.reason: bytes = exchange.reason
        self.headers: HeaderPairs = exchange.headers
        self.own_headers: HeaderPairs = exchange.own_headers
        self.is_stream: bool = exchange.is_stream
        self._is_whole = is_whole
        self.read = exchange.read
        self.read_small = exchange.read_small

    @property
    def is_early(self) -> bool:
        return not self._is_whole()

    def close(self) -> None:
        self._give_back(self._exchange.reusable)
