"""The name in `Host` (RFC 9110, section 7.2), in one spelling for all that servers take for one site."""

import re

# Dots stand between labels, and one may stand behind the last (RFC 3986, section 3.2.2). Containers and devices have
# names with underscores. Escapes, zones and what RFC 3986 has room for besides are in no name that is ever resolved,
# and readers differ in what they make of them.
_NAME = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?"
_LITERAL = r"\[[0-9A-Fa-f:.]+\]"
# Empty is a legal Host: the target has no authority.
_HOST = re.compile(rf"(?:(?:{_NAME}|{_LITERAL})(?::[0-9]*)?)?".encode("ascii"))


def is_host(value: bytes) -> bool:
    """Whether a field is a name or an IP literal, with a port or without, or empty."""
    return _HOST.fullmatch(value) is not None


def host_name(value: bytes) -> str:
    """The name of a `Host` that is one: lower case, without port, brackets and a last dot."""
    host = value.decode("latin-1").lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].removesuffix(".")
