"""Writes that may have two ends: the path names the one, and the query or the body the other.

A request has one resource, so that only a resource which contains both ends asks the holders of both.
"""

from collections.abc import Iterable, Iterator, Mapping

from gateway.policy.openapi.bare_ids import bare_ids
from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import Kind
from gateway.policy.openapi.relations import PEERS
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.vocabulary import singular, words
from gateway.policy.openapi.wording import comment
from gateway.policy.reading.lenient_name import folded

_STARTS = frozenset({"from", "origin", "source", "src"})
_ENDS = frozenset({"dest", "destination", "into", "onto", "target", "to"})
# What `with` names, where it is an id: `?with=comments` is none.
_BESIDE = frozenset({"against", "with"})
# `moveIssuesTo` and `transfer_to` end so; `assigned_to` only says who is meant.
_MOVES = frozenset({"copy", "merge", "migrate", "move", "moved", "swap", "transfer", "transferred"})
# With which the text of a path ends where something goes from one to another.
_ACTIONS = _MOVES | {"moves", "pay", "payment", "payments", "payout", "transfers"}
_IDS = frozenset({"guid", "iban", "id", "ids", "iid", "key", "number", "ref", "slug", "uuid"})
# What names a thing of this API, if anything.
_NAMING: frozenset[Kind] = frozenset(
    {"text", "word", "lowercase", "uppercase", "hexadecimal", "integer", "signed", "uuid", "list", "integers", "uuids"}
)
_PLAIN: frozenset[Kind] = frozenset({"integer", "signed", "uuid", "integers", "uuids", "hexadecimal"})
# `addTask` with the `task` in its body.
_TYING = frozenset(
    {"add", "assign", "attach", "connect", "detach", "insert", "link", "remove", "set", "unassign", "unlink"}
)
# `reply_to_id` and `belongs_to_id` are no ends of a move.
_REMARKS = frozenset({"belongs", "reply", "related", "response", "answer"})


class TwoEnds:
    """Asks once for all operations that write a thing and name the same beside it."""

    def __init__(self) -> None:
        self._asked: set[tuple[object, str]] = set()

    def asks(self, operation: Operation, path: Translation, *, knows_other: bool = False) -> Iterator[str]:
        """`knows_other`: it is asked already whether it writes what another path does, which ids without a name are."""
        place = path.texts[: path.kept]
        new = [(name, where) for name, where in _others(operation, path) if (place, folded(name)) not in self._asked]
        self._asked |= {(place, folded(name)) for name, _ in new}
        told = [f"its {where} has `{comment(name, 60)}`" for name, where in new]
        if not told and path.slots and not knows_other:
            told = [one.sentence for one in bare_ids(operation, path) if (path.texts, one.sentence) not in self._asked]
            self._asked |= {(path.texts, sentence) for sentence in told}
        for sentence in told[:1]:
            yield (
                f"{sentence}: does it write that too? If so take for its resource what contains both: one write has "
                "one resource, and the other's holder is not asked"
            )


def _others(operation: Operation, path: Translation) -> Iterator[tuple[str, str]]:
    """Names in the query or in the body that may be another end, and where they stand."""
    slots = [one.name for one in path.slots]
    if not slots:
        if _starts(operation.body.kinds):
            yield from ((name, "body") for name in _ends(operation.body.kinds, _things(path)) if len(words(name)) > 1)
        return
    own = {folded(name) for name in slots}
    is_move = bool(_STARTS.intersection(words(slots[-1]))) or not _ACTIONS.isdisjoint(words(path.last))
    for kinds, where in ((operation.query, "query"), (operation.body.kinds, "body")):
        # To whom a message goes is said by `to` as well, and from when to when.
        is_told = is_move or (where == "query" and not _starts(kinds))
        for name in _ends(kinds, _things(path), is_move=is_move):
            if folded(name) not in own and (is_told or folded(name) != "to" or kinds[name] in _PLAIN):
                yield name, where
        yield from ((name, where) for name, kind in kinds.items() if folded(name) in _BESIDE and kind in _PLAIN)
    both = dict.fromkeys((*_tied(operation, path), *_alike(path, operation.body.required)))
    yield from ((name, "body") for name in both if folded(name) not in own)
    if not path.whole:
        # Of some things one may be the path's, and the others are not.
        inner = {name: None for names in operation.body.listed.values() for name in sorted(names)}
        yield from ((name, "body") for name in _alike(path, inner))


def _starts(kinds: Mapping[str, Kind]) -> bool:
    return any(not _STARTS.isdisjoint(words(name)) for name in kinds)


def _ends(kinds: Mapping[str, Kind], things: frozenset[str], *, is_move: bool = False) -> Iterator[str]:
    """Where things move to the path's, an id of what they come from is an end, too."""
    ends = _ENDS | _STARTS if is_move else _ENDS
    for name, kind in kinds.items():
        told = words(name) if kind in _NAMING else []
        if not told or not _REMARKS.isdisjoint(told):
            continue
        # One of some words is what something is, not which.
        is_end = len(told) == 1 and told[0] in _ENDS and kind != "word"
        is_moved_to = told[-1] in _ENDS and not _MOVES.isdisjoint(told[:-1])
        is_id = not ends.isdisjoint(told[:-1]) and (told[-1] in _IDS or singular(told[-1]) in things)
        if is_end or is_moved_to or is_id:
            yield name


def _tied(operation: Operation, path: Translation) -> Iterator[str]:
    """Ids of what the action's name says is tied to the path's thing, or parted from it: `addTask`, `children`."""
    verb, *things = words(path.last) or [""]
    is_tying = verb in _TYING and bool(things)
    things = things or [verb]
    if path.whole or not (is_tying or singular(things[-1]) in PEERS):
        return
    for name, kind in operation.body.kinds.items():
        told = [word for word in words(name) if word not in _IDS]
        # An object is what a thing is made of, where nothing is tied to another.
        is_named = kind in _NAMING - {"word"} and (is_tying or kind != "list" or not _IDS.isdisjoint(words(name)))
        if is_named and told and singular(told[-1]) == singular(things[-1]):
            yield name


def _alike(path: Translation, names: Iterable[str]) -> Iterator[str]:
    """Those of some names that are ids of the kind of thing that the path names: `other_account_id`."""
    texts = [text for text in path.texts[: path.kept - 1] if text is not None]
    thing = singular(words(texts[-1])[-1]) if texts and words(texts[-1]) else None
    for name in sorted(names):
        told = words(name)
        if len(told) > 1 and told[-1] in ("id", "ids") and singular(told[-2]) == thing:
            yield name


def _things(path: Translation) -> frozenset[str]:
    """What the texts of a path are called: `accounts` are each an `account`."""
    return frozenset(singular(word) for text in path.texts if text is not None for word in words(text))
