"""Names, values and comments made of a document's text: whatever stands there, what comes out is plain and short."""

import json
import re
from collections.abc import Sequence

from gateway.policy.openapi.vocabulary import snake_name

_UPSTREAM = re.compile("[^a-z0-9]+")
_RULE = re.compile("[^A-Za-z0-9._]+")
_NAME_LENGTH = 64
_COMMENT_LENGTH = 100
# Of operations, or of placeholders, in one question.
_LISTED = 5
# Of what is said here with a comment in it.
REASON_LENGTH = 250
# What YAML reads as this very text, without quotes.
_PLAIN = re.compile("[A-Za-z/][A-Za-z0-9/_.-]*(?: /[A-Za-z0-9/_.-]*)?")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off"})


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
    """A path parameter as patterns spell it, and no other of the path is called; it is then taken."""
    base = snake_name(text)
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


def scalar(text: str) -> str:
    """A text as YAML has it. What can be seen stands as it is: a pair of escapes would be two characters there."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def some_of(texts: Sequence[str]) -> str:
    """The first of them, and how many there are beside: questions stay short in documents of thousands."""
    more = f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
    return ", ".join(comment(text) for text in texts[:_LISTED]) + more
