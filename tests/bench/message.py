"""Where an HTTP message ends: enough for what a benchmark sends to itself."""

import re

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_END = b"\r\n\r\n"


def is_whole(data: bytes) -> bool:
    """Whether a message with a length, or without a body, has come to its end."""
    head = data.find(_END)
    if head < 0:
        return False
    length = _LENGTH.search(data, 0, head + 2)
    return len(data) >= head + len(_END) + (int(length[1]) if length else 0)
