"""Where a message ends."""

import pytest

from tests.bench.message import is_whole

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n"


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        pytest.param(b"", False, id="nothing"),
        pytest.param(_HEAD, False, id="half a head"),
        pytest.param(_HEAD + b"\r\n{", False, id="half a body"),
        pytest.param(_HEAD + b"\r\n{}", True, id="a body"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", True, id="no body"),
        pytest.param(b"PUT / HTTP/1.1\r\n\r\nContent-Length: 9\r\n", True, id="a body that looks like a head"),
    ],
)
def test_a_message_is_whole_with_its_last_byte(data: bytes, whole: bool) -> None:
    """However many pieces it comes in."""
    assert is_whole(data) is whole
