"""Which header fields are of one connection only (RFC 9110, section 7.6.1): they are neither passed on nor kept."""

from gateway.core.field_name import plain_name

# RFC 9110, section 7.6.1, and what older software sends.
HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"http2-settings",
    )
)

# What nearly every Connection line says, and says of fields that are dropped anyway.
_IDLE_TALK = (b"keep-alive", b"Keep-Alive", b"close")


def nominated(connection: list[bytes]) -> frozenset[bytes]:
    """The fields that `Connection` lines name as hop-by-hop, as `plain_name` spells them. Every line counts."""
    if not connection or (len(connection) == 1 and connection[0] in _IDLE_TALK):
        return frozenset()
    return frozenset(plain_name(token.strip()) for line in connection for token in line.split(b","))
