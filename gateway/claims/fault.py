"""Keys that cannot be had. Here and not beside the keys, whose libraries take ten megabytes to load."""

from dataclasses import dataclass

# Sixty-four RSA keys as a JWKS are a fifth of it. A larger document is the wrong one.
LONGEST = 256 << 10


@dataclass(frozen=True, slots=True)
class KeyFault:
    """Keys that cannot be had, and why. `is_empty`: it is a whole answer, of an issuer that has no key to trust."""

    why: str
    is_empty: bool = False
