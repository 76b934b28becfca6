"""Authentication that is a connection's and no request's: NTLM, and Negotiate (RFC 4559, section 5).

Whoever has proved who it is is taken for the sender of all that follows on that connection. An upstream's connections
are shared by all agents: one over which anybody did so, or was asked to, is used for no other request.
"""

import re

from gateway.core.request import HeaderPairs, Headers

# Rather one connection too few used again than one too many: what only begins like a scheme of these counts, too.
_SCHEME = rb"\s*(?:ntlm|nego|credssp|kerberos)"
_PROOF = re.compile(_SCHEME, re.IGNORECASE)
# One field may hold several challenges (RFC 9110, section 11.6.1).
_CHALLENGE = re.compile(rb"(?:^|,)" + _SCHEME, re.IGNORECASE)


def authenticates_connection(headers: Headers) -> bool:
    """Whether the request proves who sends whatever follows on its connection."""
    if headers.first(b"authorization") is None:
        return False
    return any(map(_PROOF.match, headers.all(b"authorization")))


def wants_connection_authenticated(fields: HeaderPairs) -> bool:
    """Whether an answer's `WWW-Authenticate` takes such a proof."""
    challenges = (value for name, value in fields if name.lower() == b"www-authenticate")
    return any(_CHALLENGE.search(challenge) for challenge in challenges)
