"""The segments of a document's path: text, a placeholder, or text and placeholders in one, which no match can say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gateway.core.rule import Upstream
from gateway.core.target import Ambiguous, read_target
from gateway.policy.pattern import Pattern, Shape
from gateway.policy.value_form import ValueForm

_WHOLE = re.compile(r"\{([^{}]*?)(\+|\*|\.\.\.)?\}")
_BRACES = re.compile(r"\{[^{}]*\}")
_ENDING = re.compile(r"\.[0-9A-Za-z_+-]+")
# What a value of a form is made of; forms that are not here may have any character.
_ALPHABETS: Mapping[ValueForm, re.Pattern[str]] = {
    "unreserved": re.compile("[0-9A-Za-z._~-]*"),
    "word": re.compile("[0-9A-Za-z_-]*"),
    "lowercase": re.compile("[0-9a-z_-]*"),
    "uppercase": re.compile("[0-9A-Z_-]*"),
    "ulid": re.compile("[0-9A-Z]*"),
    "integer": re.compile("[0-9]*"),
    "uuid": re.compile("[0-9a-f-]*"),
    "base64": re.compile("[0-9A-Za-z+/=]*"),
    "base64url": re.compile("[0-9A-Za-z_-]*"),
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A placeholder, as the document calls it. `rest`: it takes all that follows."""

    name: str
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Partial:
    """Text and placeholders in one: `{id}:erase`. `text` is its text alone, decoded; `end` what is behind the last."""

    text: str
    end: str = ""

    def fits(self, form: ValueForm) -> bool:
        """Whether some value of the segment may be of the form."""
        if isinstance(form, frozenset):
            return any(set(self.text).issubset(one) for one in form)
        alphabet = _ALPHABETS.get(form)
        return alphabet is None or alphabet.fullmatch(self.text) is not None

    @property
    def is_refused(self) -> bool:
        """Whether no request with it passes, whatever the rules: `;` and the like."""
        return isinstance(read_target(f"/x{self.text}"), Ambiguous)

    @property
    def is_format(self) -> bool:
        """Whether it names a thing and, behind a dot, the format of an answer: `{id}.json`."""
        return self.text == self.end and _ENDING.fullmatch(self.end) is not None


Segment = str | Slot | Partial


def parse_segment(piece: str) -> Segment:
    """One piece between two slashes."""
    found = _WHOLE.fullmatch(piece)
    if found is not None:
        return Slot(found[1], rest=found[2] is not None)
    if "{" not in piece and "}" not in piece:
        return decoded(piece)
    texts = [decoded(text) for text in _BRACES.split(piece)]
    return Partial("".join(texts), texts[-1])


def path_segments(path: str) -> tuple[str, ...]:
    """Those of a path that is plain text and stands before others, without empty ones."""
    return tuple(piece for piece in path.split("/") if piece)


def api_shape(pattern: Pattern, upstream: Upstream) -> Shape:
    """What a pattern takes, as the API sees it behind the mount."""
    segments, rest, slash = pattern.shape
    dropped = len(upstream.mount.segments) if upstream.mount.strip else 0
    return (*path_segments(upstream.base_path), *segments[dropped:]), rest, slash


def decoded(piece: str) -> str:
    """The text as rules see it, `%61` being `a`; as it is where no request can have it."""
    target = read_target(f"/{piece}")
    return piece if isinstance(target, Ambiguous) or len(target.segments) > 1 else target.segments[0]
