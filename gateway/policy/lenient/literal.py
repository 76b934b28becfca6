"""A path's text where a rule or a mount has text of its own: told by how it is spelled, too.

To some servers `%73earch` is `search` (RFC 3986, section 6.2.2.2), and others compare a path as it came: Express, Koa,
Tornado and Rails find there what `{name}` takes, Fastify and Hono do with `%3A` for a colon.
"""

from collections.abc import Sequence
from urllib.parse import quote

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, Refused
from gateway.core.target import Target

# What a path may have as it is, beside letters, digits and `-._~`: RFC 3986, section 3.3, and brackets.
_NEEDS_NO_ESCAPE = "!$&'()*,:=@[]"


def misspelled_literal(literals: Sequence[str | None], target: Target, *, escapes_plus: bool = False) -> Refused | None:
    """The refusal of a path with an escape that its character does not need, or of two spellings (`%c3` for `%C3`),
    where there is text in a pattern that takes it, or in a mount. None: there is a placeholder. `escapes_plus`: a bare
    `+` is refused there, so that `%2B` is needed."""
    unescaped = _NEEDS_NO_ESCAPE if escapes_plus else f"{_NEEDS_NO_ESCAPE}+"
    for literal, piece in zip(literals, target.path[1:].split("/"), strict=False):
        if literal is None or "%" not in piece:
            continue
        plain = quote(literal, safe=unescaped)
        if piece != plain:
            why = f"a server that compares paths as they come does not take `{piece}` for `{plain}`, as the policy does"
            return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}. Send `{plain}`.", OF_PATHS)
    return None
