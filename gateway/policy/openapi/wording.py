"""Names and comments made of a document's text: whatever stands there, what comes out is plain and short."""

import re
from collections.abc import Sequence

_UPSTREAM = re.compile("[^a-z0-9]+")
_RULE = re.compile("[^A-Za-z0-9._]+")
_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile("[A-Za-z][a-z]*")
_NAME_LENGTH = 64
_COMMENT_LENGTH = 100
# Of operations, or of placeholders, in one question.
_LISTED = 5
# Of what is said here with a comment in it.
REASON_LENGTH = 250
# Names of placeholders and members that do not say what is named.
GENERIC = frozenset({"code", "guid", "id", "iid", "key", "name", "no", "number", "pk", "slug", "uid", "uuid", "value"})
# Verbs and nouns by which APIs call a search. A guess is only ever a question to whoever owns the policy.
_READING = frozenset(
    {
        "count",
        "describe",
        "evaluate",
        "fetch",
        "filter",
        "find",
        "get",
        "list",
        "lookup",
        "preview",
        "query",
        "read",
        "search",
        "select",
        "validate",
    }
)
# With one of these among its words it is none.
_WRITING = frozenset(
    {
        "clear",
        "create",
        "delete",
        "destroy",
        "drop",
        "erase",
        "insert",
        "purge",
        "put",
        "remove",
        "replace",
        "reset",
        "update",
        "upsert",
        "write",
    }
)


def upstream_name(title: str) -> str:
    """Lower case with dashes, fit for a mount and a metric's label."""
    return _UPSTREAM.sub("-", title.lower()).strip("-")[:40].strip("-") or "api"


def rule_name(text: str, taken: set[str]) -> str:
    """A name that no other rule has; it is then taken."""
    base = _RULE.sub("-", text).strip("-._")[:_NAME_LENGTH] or "rule"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base[: _NAME_LENGTH - 1 - len(str(count))]}-{count}"
    taken.add(name)
    return name


def placeholder_name(text: str, taken: set[str]) -> str:
    """A path parameter as patterns spell it: lower case, digits and underscores."""
    base = re.sub("[^a-z0-9]+", "_", _HUMP.sub("_", text).lower()).strip("_") or "part"
    base = base if base[0].isalpha() else f"p_{base}"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


def comment(text: str, length: int = _COMMENT_LENGTH) -> str:
    """One line of printable text."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[:1000]).split())
    return line if len(line) <= length else f"{line[: length - 3].rstrip()}..."


def some_of(texts: Sequence[str]) -> str:
    """The first of them, and how many there are beside: questions stay short in documents of thousands."""
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return ", ".join(comment(text) for text in texts[:_LISTED]) + more


def reading_word(operation_id: str, last_segment: str) -> str | None:
    """The word by which an operation looks like a read; None if it does not. An id begins with its verb."""
    told = (*words(operation_id)[:1], *words(last_segment))
    if not _WRITING.isdisjoint(told):
        return None
    return next((word for word in told if word in _READING), None)


def words(text: str) -> list[str]:
    """The words of a name, in lower case: of `petId` and `pet-id` two."""
    return [word.lower() for word in _WORD.findall(_HUMP.sub(" ", text[:200]))]


def singular(word: str) -> str:
    """Of a word in English, as far as its end tells."""
    return f"{word.removesuffix('ies')}y" if word.endswith("ies") else word.removesuffix("s")
