"""A header field's name as servers read it that make a variable of it.

RFC 3875, section 4.1.18, turns a dash into an underscore. Some of its heirs turn a dot into one too (PHP), some every
character that a variable's name cannot have: to them `X.Epoch`, `X_Epoch` and `X-Epoch` are one field.
"""

from collections.abc import Collection

_ALPHANUMERIC = b"0123456789abcdefghijklmnopqrstuvwxyz"
_PLAIN = bytes(byte if byte in _ALPHANUMERIC else ord("-") for byte in bytes(range(256)).lower())


def plain_name(name: bytes) -> bytes:
    """The name in lower case, with a dash for every character that is no letter or digit."""
    return name.translate(_PLAIN)


def respelled_names(names: Collection[bytes]) -> frozenset[bytes]:
    """What is made of those names (lower case) that are not plain."""
    # Nearly always there is none, and all names together are looked at in less time than one by one.
    if not b"".join(names).translate(None, _ALPHANUMERIC + b"-"):
        return frozenset()
    return frozenset(plain for name in names if (plain := plain_name(name)) != name)
