"""GET operations that are called as what writes: reads pass without a lease, and so would these.

What a name says is a guess. Where it can hardly say anything else the operation is closed, else it is asked about; one
that is called a read, as by far the most are, is neither.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.policy.finding import Wrong
from gateway.policy.openapi.translation import translate
from gateway.policy.openapi.vocabulary import NOUNS_TOO, READING, WRITING, words
from gateway.policy.openapi.wording import some_of
from gateway.policy.pattern import parse_pattern

# Behind an action: nothing, or what proves that one was asked for.
_ENDS_IN_ACTION = re.compile(r"(?:[^}/]|\{[A-Za-z_-]*(?:code|hash|signature|token)\})/?$", re.IGNORECASE)
# Before the name of a method stands that of what has it: `users.delete`, `repos/get`, `Users_Delete`.
_OWNER = re.compile(r".*(?:[./:]|Controller_|_(?=[A-Z]))")


@dataclass(frozen=True, slots=True)
class WritingRead:
    """`word`: by which it looks like a write. `is_sure`: it is called so by its id or its path, and nowhere a read."""

    path: str
    word: str
    is_sure: bool

    def __str__(self) -> str:
        return f"GET {self.path}"


def writing_read(path: str, operation_id: str, summary: str) -> WritingRead | None:
    """The GET operation of a path, if it looks like a write."""
    is_made = _is_made(operation_id, path)
    called = () if is_made else _called(operation_id)
    if not READING.isdisjoint(called):
        return None
    told = next((verb for word in words(summary)[:1] for verb in _verbs(word)), "")
    texts = _last_words(path) if WRITING.isdisjoint(called) and NOUNS_TOO.isdisjoint(called) else []
    alone = texts if len(texts) == 1 else []
    sure = next((word for word in (*called, *alone) if word in WRITING), None)
    if sure is not None:
        return WritingRead(path, sure, is_sure=told not in READING and not is_made)
    if told in READING:
        return None
    # `/jobs/{id}/run` and `/confirm/{token}`, and not `/run/{id}`.
    ends = alone if _ENDS_IN_ACTION.search(path) else []
    may = [word for word in (*called, told, *ends) if word in NOUNS_TOO]
    may += [word for word in (told, *texts[:1]) if word in WRITING]
    return WritingRead(path, may[0], is_sure=False) if may else None


def _called(operation_id: str) -> tuple[str, ...]:
    """The words that may be its verb."""
    name = operation_id[:200]
    return tuple(word for text in (_OWNER.sub("", name), name) for word in words(text)[:1])


def _is_made(operation_id: str, path: str) -> bool:
    """Whether an id is the method and the path in one, as generators write it: its `get` is what HTTP calls it."""
    first, *called = words(operation_id) or [""]
    if first != "get":
        return False
    said = "".join(word for word in called if word != "by")
    pieces = path[:2000].partition("?")[0].split("/")
    texts = [piece for piece in pieces if "{" not in piece]
    return said in ("".join(words(" ".join(some))) for some in (pieces, texts))


def _verbs(word: str) -> Iterator[str]:
    """`Deletes` and `pushes` say what `delete` and `push` do."""
    endings = (word, word.removesuffix("s"), word.removesuffix("es"))
    return (one for one in endings if one in WRITING or one in NOUNS_TOO or one in READING)


def _last_words(path: str) -> list[str]:
    """Of the last text of a path, or of the method behind its last placeholder: `/jobs/{id}:run`."""
    pieces = [piece.rpartition(":")[2] for piece in path[:2000].partition("?")[0].split("/")]
    return words(next((piece for piece in reversed(pieces) if piece and "{" not in piece and "}" not in piece), ""))


@dataclass(frozen=True, slots=True)
class Closing:
    """What closes one of them; `match` is None where none can name it."""

    read: WritingRead
    match: str | None

    @property
    def is_sure(self) -> bool:
        return self.read.is_sure and self.match is not None


def closings(reads: Iterable[WritingRead], upstream: str) -> Iterator[Closing]:
    """In their order, once for all that have the same requests."""
    seen: set[object] = set()
    for each in reads:
        path = translate(each.path)
        match = f"GET /{upstream}{path.match}"
        pattern = Wrong("") if path.wrong or path.query else parse_pattern(match, closes=True)
        if isinstance(pattern, Wrong):
            yield Closing(each, None)
        elif pattern.shape not in seen:
            seen.add(pattern.shape)
            yield Closing(each, match)


def told_closings(every: Iterable[Closing]) -> Iterator[str]:
    """A question for those that are closed, for those that may have to be, and for those that cannot be."""
    closed, asked, nameless = list[str](), list[str](), list[str]()
    for each in every:
        (nameless if each.match is None else closed if each.is_sure else asked).append(str(each.read))
    if closed:
        yield f"{some_of(closed)}: called as a write, and closed; remove from `closed` what changes nothing"
    if asked:
        yield f"{some_of(asked)}: does it write? Reads need no lease; uncomment its line under `closed` if it does"
    if nameless:
        yield f"{some_of(nameless)}: does it write? Reads need no lease, and no match names it (`reads: deny` does)"
