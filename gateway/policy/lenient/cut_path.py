"""A path that ends in its middle to some server, and is a query from there on.

Behind nginx with `proxy_pass http://api$uri` an escape is undone before the API sees it: `/docs/publish%3Fx` ends at
its `?`, `/docs/publish%23` at its `#`; with a blank the request line has one part more, and gunicorn and others take
`/docs/publish%20HTTP/1.0` for `/docs/publish`. With `try_files $uri /index.php?q=$uri&$args` what follows `&` is
parameters.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

from gateway.core.rule import Mount
from gateway.core.target import Target
from gateway.policy.lenient.bare_plus import has_bare_plus
from gateway.policy.lenient.decoded_path import decoded_segments, undone

# `?`, `#`, `&` and `%`, which may hide another.
_ESCAPED = re.compile("%(?:2[356]|3[Ff])")
_CUTS = re.compile("[?#&]")
# A blank, and `%`, which may hide one.
_ESCAPED_BLANK = re.compile("%2[05]")
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
    return _reading(target, text[: mark.start()], (*_parameters(text[mark.start() :]), target.query))


def target_before_blank(target: Target) -> Target | None:
    """The path up to its first blank, and the parameters that come before it; those of the query come behind. None: it
    has no blank.

    A name may have one: this is asked only where something depends on it.
    """
    if "%" not in target.path or _ESCAPED_BLANK.search(target.path) is None:
        return None
    before, blank, _ = undone(target.path).partition(" ")
    if not blank:
        return None
    mark = _CUTS.search(before)
    end = len(before) if mark is None else mark.start()
    return _reading(target, before[:end], _parameters(before[end:]))


def readings_where_cut(target: Target) -> tuple[Target, ...]:
    """What it is to those servers: the path up to there, and to who looks for the path elsewhere than for parameters,
    the whole one with these. None where nothing can cut it."""
    cut, before_blank = cut_target(target), target_before_blank(target)
    ended = () if before_blank is None else (before_blank,)
    if cut is None:
        return ended
    return (cut, *ended) if cut.query == target.query else (cut, replace(target, query=cut.query), *ended)


def _reading(target: Target, path: str, parameters: Iterable[str | None]) -> Target:
    before = quote(path)
    cut = Target(target.raw, before, (), "&".join(filter(None, parameters)) or None)
    segments = decoded_segments(cut)
    return replace(cut, segments=(*segments, "") if before.endswith("/") or not segments else segments)


def _parameters(rest: str) -> list[str]:
    """Escaped once. What follows `#` is sent to nobody."""
    pairs = (pair.partition("=") for pair in _PARTS.split(rest.partition("#")[0]) if pair)
    return [f"{quote(name, safe='')}={quote(value, safe='')}" for name, _, value in pairs]
