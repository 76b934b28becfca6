"""A path that ends in its middle to some server, and is a query from there on.

Behind nginx with `proxy_pass http://api$uri` an escape is undone before the API sees it: `/docs/publish%3Fx` ends at
its `?`, `/docs/publish%23` at its `#`. With `try_files $uri /index.php?q=$uri&$args` what follows `&` is parameters.
"""

import re
from dataclasses import replace
from urllib.parse import quote

from gateway.core.rule import Mount
from gateway.core.target import Target
from gateway.policy.bare_plus import has_bare_plus
from gateway.policy.decoded_path import decoded_segments, undone

# `?`, `#`, `&` and `%`, which may hide another.
_ESCAPED = re.compile("%(?:2[356]|3[Ff])")
_CUTS = re.compile("[?#&]")
# Undone once more, it is another path.
_ESCAPED_ESCAPE = re.compile("%25[0-9A-Fa-f]{2}")
_PARTS = re.compile("[?&;]")


def is_divided(target: Target, mount: Mount) -> bool:
    """Whether its path is another one to some server, by an escape that is undone too early or a bare `+`, and the
    mount does not say that it never is to its own."""
    if (mount.encoded_slash == "refuse" and target.has_encoded_slash) or has_bare_plus(target, mount):
        return True
    return mount.delimiters == "refuse" and is_cut(target)


def is_cut(target: Target) -> bool:
    """Whether there is a server to which it is another path: one that ends earlier, or has other characters."""
    return cut_target(target) is not None or _ESCAPED_ESCAPE.search(target.path) is not None


def cut_target(target: Target) -> Target | None:
    """The path up to there, its escapes undone, and the rest as parameters, before those that the query has. None:
    nothing can cut it.

    A proxy that undoes one escape undoes that of a slash too: it is never opaque here.
    """
    path = target.path
    if "&" not in path and ("%" not in path or _ESCAPED.search(path) is None):
        return None
    text = undone(path)
    mark = _CUTS.search(text)
    if mark is None:
        return None
    before = quote(text[: mark.start()])
    query = "&".join(filter(None, (*_parameters(text[mark.start() :]), target.query)))
    cut = Target(target.raw, before, (), query or None)
    segments = decoded_segments(cut)
    return replace(cut, segments=(*segments, "") if before.endswith("/") or not segments else segments)


def readings_where_cut(target: Target) -> tuple[Target, ...]:
    """What it is to those servers: the path up to there, and to who looks for the path elsewhere than for parameters,
    the whole one with these. None where nothing can cut it."""
    cut = cut_target(target)
    if cut is None:
        return ()
    return (cut,) if cut.query == target.query else (cut, replace(target, query=cut.query))


def _parameters(rest: str) -> list[str]:
    """Escaped once. What follows `#` is sent to nobody."""
    pairs = (pair.partition("=") for pair in _PARTS.split(rest.partition("#")[0]) if pair)
    return [f"{quote(name, safe='')}={quote(value, safe='')}" for name, _, value in pairs]
