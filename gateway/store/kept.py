"""Kept answers as the store holds them: deflated where they are short, for there are many, and they are much alike."""

import zlib

from gateway.core.intent import KeptAnswer, unpack_answer

# What most answers have in common, the likeliest last. It belongs to the format: with another one, no answer that was
# kept before could be read.
_DICTIONARY = (
    b'","message":"","name":"","type":"","url":"https://","created_at":"2026-01-01T00:00:00Z","updated_at":"'
    b'"status":"queued","object":"","id":"{"id":"\r\nContent-Encoding: gzip\r\nContent-Language: en\r\nLast-Modified: '
    b'Mon, 01 Jan 2026 00:00:00 GMT\r\nLink: <https://>; rel="next"\r\nContent-Location: /\r\nETag: W/"\r\nContent-Type'
    b": text/plain; charset=utf-8\r\n\r\n204\r\nContent-Type: application/json; charset=utf-8\r\nLocation: https://\r\n"
    b'200\r\nContent-Type: application/json\r\n\r\n{"id":"201\r\nContent-Type: application/json\r\nLocation: /'
)
# Of less there is too little to gain for the three microseconds that it takes.
_SHORTEST = 80
# Deflating this much takes a tenth of a millisecond, and the event loop waits for it.
_LONGEST = 4 << 10
# A window of 4 KiB, and tables to match: setting up the usual ones takes ten times as long as deflating.
_WINDOW_BITS = -12
_MEMORY_LEVEL = 3
# Before what is deflated; the packed form itself begins with a digit.
_MARK = b"z"


def deflate_answer(answer: KeptAnswer) -> bytes:
    """An answer as it is stored: never longer than its packed form."""
    packed = answer.pack()
    if not _SHORTEST <= len(packed) <= _LONGEST:
        return packed
    deflate = zlib.compressobj(-1, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
    return min(_MARK + deflate.compress(packed) + deflate.flush(), packed, key=len)


def inflate_answer(stored: bytes) -> KeptAnswer:
    """The inverse of `deflate_answer`."""
    if not stored.startswith(_MARK):
        return unpack_answer(stored)
    inflate = zlib.decompressobj(_WINDOW_BITS, _DICTIONARY)
    return unpack_answer(inflate.decompress(stored[len(_MARK) :]) + inflate.flush())
