"""The faults of a head, asked of what aiohttp's parsers, or one of the two, have let through."""

from aiohttp import HttpVersion, HttpVersion10, HttpVersion11

from gateway.core.framing import head_fault
from gateway.core.request import Headers


def framing_fault(method: str, version: HttpVersion, headers: Headers) -> str | None:
    """What is wrong with the head, or None. Such a request is refused, and its connection closed behind it."""
    if version not in (HttpVersion10, HttpVersion11):
        return "the version must be HTTP/1.1 or HTTP/1.0"
    return head_fault(method, headers, is_http_10=version == HttpVersion10)
