"""Operations whose path most likely does not name what they write: one thing would have two names, and two fences."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import Kind
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Place, Translation
from gateway.policy.openapi.vocabulary import CALLERS, GENERIC, singular, snake_name, words
from gateway.policy.openapi.wording import comment

# By which APIs call one of many things without its id, or all of them; some put a mark before it.
_ALIASES = CALLERS | frozenset(
    {"all", "current", "default", "first", "last", "latest", "mine", "newest", "original", "own", "primary", "root"}
)
_MARKS = "@~$_-.*!"
_MANY = frozenset({"batch", "bulk", "many", "mass", "multiple"})
# What stands between two things that are both written, and how the two are called.
_BETWEEN = frozenset(
    {"assign", "attach", "clone", "copy", "into", "link", "merge", "move", "onto", "swap", "to", "transfer"}
)
_BESIDE = frozenset({"and", "from", "with"})
_ENDS = frozenset({"dest", "destination", "from", "source", "target", "to"})
# Placeholders that say what is done; where texts stand before the last two, those say which thing it is.
_DONE = frozenset({"action", "command", "operation", "verb"})
_ACTIONS = _DONE | {"event", "transition"}
# What things were or may be, and what makes one of these of the thing itself.
_STATES = frozenset(
    {
        *("archive", "backup", "change", "checkpoint", "draft", "edit", "history", "patch", "proposal", "revision"),
        *("savepoint", "snapshot", "suggestion", "version"),
    }
)
_RETURNS = frozenset(
    {"apply", "merge", "promote", "publish", "redo", "reinstate", "restore", "revert", "rollback", "undo", "use"}
)
# An id that a JSON body spells in the one way that a path does.
_EXACT: frozenset[Kind] = frozenset({"integer", "uuid"})
# A member that a pointer names without escapes.
_MEMBER = re.compile("[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Item:
    """What a path has at a place where it names one of many: as the document calls it, and what its name is."""

    name: str
    kind: Kind
    example: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """`closes`: the operation gets no rule. `asks`: it gets one that is asked about. `exact`: its body has the name.

    `about`: what is asked once, for all operations of one place.
    """

    closes: str | None = None
    asks: str | None = None
    exact: Item | None = None
    about: tuple[str, Place] | None = None

    @property
    def is_of_another(self) -> bool:
        """Whether it is asked already if what another path writes is written."""
        return self.asks is not None and self.about is None


class Items:
    """Where the paths of a document name one of many things."""

    def __init__(self, ruled: Iterable[tuple[Operation, Translation]]) -> None:
        self._at: dict[Place, Item] = {}
        self._methods: defaultdict[Place, set[str]] = defaultdict(set)
        for operation, path in ruled:
            self._methods[path.texts].add(operation.method)
            for _, place, slot in path.placed_slots():
                if not slot.rest and place not in self._at:
                    kind = operation.kinds.get(slot.name, "text")
                    self._at[place] = Item(slot.name, kind, comment(operation.path))

    def doubt(self, operation: Operation, path: Translation) -> Doubt:
        """What is doubtful of an operation, the worst first."""
        texts = path.texts
        if _writes_many(operation, texts):
            return Doubt("one call may write many things, and each of them has a holder of its own")
        between = _between(path)
        if between is not None and between.closes:
            return between
        item = self._at.get(texts) if texts[-1:] != (None,) else None
        if item is not None:
            return _collection(operation, item)
        alias = self._alias(operation, path, texts) or _action(operation, path, texts) or between
        alias = alias or self._of_owner(operation, texts) or _state(operation, path)
        return alias or _value(operation, path, self._methods[texts]) or Doubt()

    def _alias(self, operation: Operation, path: Translation, texts: Place) -> Doubt | None:
        """A text where other paths name one of many: another name of one, several of them, or an action on them."""
        for at, text in enumerate(texts):
            item = None if text is None else self._at.get(texts[:at]) or self._of_collection(texts[: at + 1])
            if text is None or item is None:
                continue
            is_last = at == len(texts) - 1
            if _is_alias(text) or (is_last and operation.method != "POST"):
                return Doubt(f"`{comment(text)}` may be another name of what `{item.example}` writes")
            if is_last:
                return Doubt(asks=f"does it write what `{item.example}` writes? It is fenced apart from that")
            key = path.segments[at + 1]
            if isinstance(key, Slot) and words(text)[:1] == ["by"]:
                return Doubt(f"`{comment(text)}` may find what `{item.example}` writes by another key")
            # At the root a placeholder takes whatever an API has beside it.
            if isinstance(key, Slot) and at > 0 and not _lists(text, key) and not _ACTIONS.issuperset(words(item.name)):
                asks = f"does `{comment(text)}` find what `{item.example}` writes by another key? It is fenced apart"
                return Doubt(asks=asks, about=("key", texts[: at + 1]))
        return None

    def _of_owner(self, operation: Operation, texts: Place) -> Doubt | None:
        """All things of an owner, which have paths of their own: `DELETE /users/{id}/docs` beside `/docs/{id}`."""
        if operation.method == "POST" or texts[-1:] == (None,) or None not in texts:
            return None
        item = next((item for place, item in self._at.items() if place[-1:] == texts[-1:]), None)
        if item is None:
            return None
        return Doubt(asks=f"does it write what `{item.example}` writes? If so close it: each of those is fenced apart")

    def _of_collection(self, texts: Place) -> Item | None:
        """What a method beside a collection's name may write: `/docs:purge` beside `/docs/{id}`."""
        collection, colon, _ = (texts[-1] or "").partition(":")
        return self._at.get((*texts[:-1], collection)) if colon else None


def _writes_many(operation: Operation, texts: Place) -> bool:
    last = texts[-1] if texts else None
    return not _MANY.isdisjoint((*words(last or ""), *words(operation.operation_id)))


def _is_alias(text: str) -> bool:
    """`@me`, `~` and `-` too."""
    bare = text.lower().strip(_MARKS)
    return not bare or bare in _ALIASES or text.startswith("@")


def _lists(text: str, key: Slot) -> bool:
    """Whether a text calls other things by what they are: `comments/{comment_id}`, and neither `email/{email}` nor
    `names/{name}`.
    """
    listed, named = words(text)[-1:], words(key.name)
    return bool(listed) and not GENERIC.issuperset(named) and singular(listed[0]) in named and listed[0] not in named


def _action(operation: Operation, path: Translation, texts: Place) -> Doubt | None:
    """A last placeholder that says what is done: `/docs/{id}/{action}` would be two things of each document."""
    kept = path.segments[: path.kept]
    told = {word for one in kept[-1:] if isinstance(one, Slot) for word in words(one.name)} - {"name", "type"}
    # `/calendars/{id}/events/{event}` names one.
    is_slot = any(isinstance(one, Slot) for one in kept[-2:-1])
    is_done = operation.method == "POST" and told <= _DONE
    if not told or not told <= _ACTIONS or not (is_slot or is_done):
        return None
    end = next((named for named in reversed(path.named[: path.kept - 1]) if named.startswith("{")), None)
    ends = "before it" if end is None else f"with `{end}`"
    asks = (
        f"does `{path.named[path.kept - 1]}` say what is done? If so let `resource` end {ends}: all is one fence then"
    )
    return Doubt(asks=asks, about=("action", texts[: path.kept]))


def _state(operation: Operation, path: Translation) -> Doubt | None:
    """What a thing was, or may become: Jupyter writes a file anew at `POST /contents/{path}/checkpoints/{id}`."""
    kept, behind = path.segments[: path.kept], path.segments[path.kept :]
    if operation.method == "DELETE" or len(kept) < 2 or not isinstance(kept[-1], Slot):
        return None
    told = words(kept[-2])[-1:] if isinstance(kept[-2], str) else []
    is_state = bool(told) and singular(told[0]) in _STATES
    is_back = any(isinstance(one, str) and not _RETURNS.isdisjoint(words(one)) for one in behind)
    end = next((named for named in reversed(path.named[: path.kept - 1]) if named.startswith("{")), None)
    if not is_state and (not is_back or end is None):
        return None
    what = "what this is a state of" if end is None else f"`{end}`"
    how = "give both one `resource`" if end is None else "let `resource` end with that"
    asks = f"does it write {what} too, as who restores an older state? If so {how}: the two are fenced apart"
    return Doubt(asks=asks, about=("state", path.texts[: path.kept]))


def _value(operation: Operation, path: Translation, methods: set[str]) -> Doubt | None:
    """A last placeholder that is a value of what stands before it: `/docs/{id}/level/{level}` would be one thing for
    each level. It is one of some words, or a truth, or stands behind a word that calls no collection, or right behind
    another placeholder where nothing else is done. `methods`: of all that writes at this path.
    """
    before, last = path.segments[:-1], path.segments[-1] if path.whole else None
    if (
        "DELETE" in methods
        or not isinstance(last, Slot)
        or last.rest
        or not any(isinstance(one, Slot) for one in before)
    ):
        # What can be deleted is a thing.
        return None
    text = before[-1]
    told = words(text)[-1:] if isinstance(text, str) else []
    is_value = last.name in operation.listed or operation.kinds.get(last.name) == "boolean"
    is_alone = isinstance(text, Slot) and len(methods) == 1
    if not is_value and not is_alone and (not told or _is_many(told[0])):
        return None
    end = next(named for named in reversed(path.named[:-1]) if named.startswith("{"))
    asks = (
        f"is `{path.named[-1]}` only what is said of `{end}`? If so let `resource` end with that: here each is a thing "
        "and a fence of its own"
    )
    return Doubt(asks=asks, about=("value", path.texts))


def _is_many(word: str) -> bool:
    """`docs`, and not `status` or `access`."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _between(path: Translation) -> Doubt | None:
    """What writes two things, or may do so."""
    closes = Doubt("it may write two things; let its resource be what both have in common")
    if len(path.slots) > 1 and any(not _ENDS.isdisjoint(words(slot.name)) for slot in path.slots):
        return closes
    found: Doubt | None = None
    for at, (text, after) in enumerate(zip(path.segments, path.segments[1:], strict=False)):
        is_between = isinstance(after, Slot) and any(isinstance(one, Slot) for one in path.segments[:at])
        if not isinstance(text, str) or not is_between:
            continue
        told = set(words(text))
        if text.lower() in _BETWEEN or (told and told <= _BETWEEN | _BESIDE):
            return closes
        if not _BETWEEN.isdisjoint(told):
            asks = f"does `{comment(text)}` write two things? If so let `resource` be what both have in common"
            found = Doubt(asks=asks, about=("between", path.texts[: path.kept]))
    return found


def _collection(operation: Operation, item: Item) -> Doubt:
    """What stands before an id: it is written as a whole, or one of it by an id in the body."""
    members = operation.body.kinds
    same = [name for name in members if snake_name(name) in ("id", snake_name(item.name))]
    if operation.method == "POST":
        asks = f"its body has `{comment(same[0])}`: does it write over what `{item.example}` writes?" if same else None
        return Doubt(asks=asks)
    kind = members.get(item.name)
    is_exact = operation.body.exact and kind in _EXACT and kind == item.kind
    if is_exact and operation.method != "DELETE" and _MEMBER.fullmatch(item.name):
        return Doubt(exact=item)
    return Doubt(f"it writes what `{item.example}` writes too, and its path does not say which of them")
