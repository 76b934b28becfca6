"""What ties two things, and is written from either of them: `/groups/{g}/users/{u}` and `/users/{u}/groups/{g}`.

As two resources it would have a holder at each end. So it is where both ends are things of one kind: a friend of 7 that
is 8 has a friend that is 7.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.vocabulary import GENERIC, singular, words
from gateway.policy.openapi.wording import comment

# What things of one kind are to each other, in the singular.
PEERS = frozenset(
    {
        *("ancestor", "block", "blocked", "child", "children", "contact", "dependency", "dependent", "descendant"),
        *("duplicate", "follow", "follower", "following", "friend", "friendship", "mute", "muted", "neighbor"),
        *("neighbour", "parent", "peer", "related", "sibling", "spouse", "subordinate", "successor"),
    }
)


@dataclass(frozen=True, slots=True)
class _Tie:
    """What a path says of the one end and of the other; the other one may be in the body."""

    one: str
    other: str


class Relations:
    """Knows all rules; asks once of each relation, at the second of its ends."""

    def __init__(self, ruled: Iterable[tuple[Operation, Translation]]) -> None:
        self._paths: dict[_Tie, str] = {}
        for operation, path in ruled:
            tie = _tie(path)
            if tie is not None:
                self._paths.setdefault(tie, operation.path)
        self._seen: set[_Tie] = set()
        self._asked: set[object] = set()

    def asks(self, path: Translation) -> Iterator[str]:
        tie = _tie(path)
        if tie is not None:
            back = _Tie(tie.other, tie.one)
            if back in self._seen and tie not in self._asked:
                self._asked.add(tie)
                yield (
                    f"does it write what `{comment(self._paths[back])}` writes from the other end? If so give both one "
                    "`resource` that contains both ends, or close one: they are fenced apart"
                )
            self._seen.add(tie)
        ends = _ends_of_one_kind(path)
        if ends is not None and path.texts not in self._asked:
            self._asked.add(path.texts)
            yield (
                f"do `{{{ends[0]}}}` and `{{{ends[1]}}}` name things of one kind? If so take for its resource what "
                "contains both: what ties the two is written from either, and the other's holder is not asked"
            )


def _tie(path: Translation) -> _Tie | None:
    """Of `/users/{id}/roles/{role}`, and of `/users/{id}/roles` with the others in its body."""
    at = len(path.segments)
    if path.segments and isinstance(path.segments[-1], Slot):
        at -= 1
    if at < 3:
        return None
    one, slot, other = path.segments[at - 3 : at]
    if not (isinstance(one, str) and isinstance(slot, Slot) and isinstance(other, str)):
        return None
    tie = _Tie(_thing(one), _thing(other))
    return tie if tie.one and tie.other and tie.one != tie.other else None


def _thing(text: str) -> str:
    """What one of a collection is called: of `group-members` it is a `group member`."""
    *told, last = words(text) or [""]
    return " ".join((*told, singular(last)))


def _ends_of_one_kind(path: Translation) -> tuple[str, str] | None:
    """The placeholders of both ends: `/users/{id}/friends/{friend_id}`, `/swap/{a}/{b}`."""
    slots = [(at, one) for at, one in enumerate(path.segments) if isinstance(one, Slot)]
    names = list(path.names)
    for at, ((first, one), (second, other)) in enumerate(pairwise(slots)):
        between = path.segments[first + 1 : second]
        before = path.segments[first - 1] if first else ""
        if len(between) > 1 or not isinstance(before, str):
            continue
        if not between:
            # `{a}` and `{b}`, `{user1}` and `{user2}`.
            is_alike = _kind(one.name) == _kind(other.name)
        else:
            kind = _thing(before)
            is_alike = bool(kind) and (_thing(str(between[0])) in PEERS | {kind} or _kind(other.name)[-1:] == [kind])
        if is_alike:
            return names[at], names[at + 1]
    return None


def _kind(name: str) -> list[str]:
    """The words that tell what a placeholder names."""
    return [word for word in words(name) if len(word) > 1 and word not in GENERIC]
