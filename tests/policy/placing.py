"""Entries made by hand, and drawn ones: patterns of few texts and conditions of few values, so that many meet."""

from itertools import product

from hypothesis import strategies as st

from gateway.core.rule import Origin, Upstream
from gateway.policy.choice import Placed
from gateway.policy.condition import Condition, HeaderCondition, PresenceCondition
from gateway.policy.entry import Closed, Matcher, Place, ReadOnly
from gateway.policy.pattern import Pattern, parse_pattern

_UPSTREAM = Upstream("api", Origin("http", "127.0.0.1", 9000))
_PLACE = Place("policy.yaml", 1, 1)


def pattern(path: str, method: str = "PUT") -> Pattern:
    parsed = parse_pattern(f"{method} {path}")
    assert isinstance(parsed, Pattern), parsed
    return parsed


def placed(own: Pattern, *conditions: Condition, closes: bool = False) -> Placed:
    matcher = Matcher(_UPSTREAM, (own,), (_PLACE,), conditions, _PLACE)
    return Placed(Closed(matcher) if closes else ReadOnly(matcher), own)


def _paths(*pieces: str, longest: int) -> list[str]:
    """All paths of these segments: `{}` stands for a placeholder with a name of its own."""
    every = (way for length in range(1, longest + 1) for way in product(pieces, repeat=length))
    return ["/" + "/".join(piece.format(f"{{p{at}}}") for at, piece in enumerate(way)) for way in every]


# Few texts, so that most targets are taken by several.
_PATHS = _paths("a", "{}", longest=3)
_ENDED = [f"{path}{end}" for path in ("", *_PATHS) for end in ("/", "/{rest...}", "/{rest...}/")]
patterns = st.builds(pattern, st.sampled_from([*_PATHS, *_ENDED]), st.sampled_from(("PUT", "PUT", "POST")))
targets = st.sampled_from(["/", *(path + end for path in _paths("a", "A", "b", longest=3) for end in ("", "", "/"))])

_NAMES = ("h", "i", "j")
headers = st.dictionaries(st.sampled_from(_NAMES), st.sampled_from("xyz"), max_size=3)
_condition = st.builds(HeaderCondition, st.sampled_from(_NAMES), st.sampled_from([*map(frozenset, ("x", "y", "xy"))]))
_presence = st.sampled_from(_NAMES).map(lambda name: PresenceCondition(HeaderCondition(name, frozenset())))
conditions = st.lists(st.one_of(_condition, _presence), max_size=2, unique_by=str).map(tuple)
