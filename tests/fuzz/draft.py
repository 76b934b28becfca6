"""A request before it is written down."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Draft:
    """Mutations change its parts."""

    method: bytes
    target: bytes
    fields: list[bytes]
    body: bytes = b""
    version: bytes = b"HTTP/1.1"
    is_chunked: bool = False
    size: bytes = b"%x"
    trailer: bytes = b""
    lies: int = 0
    spoils: list[Callable[[bytes], bytes]] = field(default_factory=list)

    def written(self, draw: random.Random) -> bytes:
        fields = list(self.fields)
        if self.is_chunked:
            fields.append(b"Transfer-Encoding: chunked")
        elif self.body or self.lies or self.method not in (b"GET", b"HEAD", b"OPTIONS"):
            fields.append(b"Content-Length: %d" % max(0, len(self.body) + self.lies))
        draw.shuffle(fields)
        line = b" ".join((self.method, self.target, self.version))
        whole = b"\r\n".join((line, *fields, b"", b"")) + (self._chunks(draw) if self.is_chunked else self.body)
        for spoil in self.spoils:
            whole = spoil(whole)
        return whole

    def _chunks(self, draw: random.Random) -> bytes:
        written, at = b"", 0
        while at < len(self.body):
            piece = self.body[at : at + draw.randint(1, max(1, len(self.body)))]
            size = self.size % len(piece) if b"%" in self.size else self.size
            written += size + b"\r\n" + piece + b"\r\n"
            at += len(piece)
        return written + b"0\r\n" + self.trailer + b"\r\n"
