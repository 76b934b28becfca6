"""A path of a document as a match and a resource, as far as they can say it exactly."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from gateway.policy.escape import escaped
from gateway.policy.finding import Wrong
from gateway.policy.openapi.segment import Partial, Segment, Slot, parse_segment
from gateway.policy.openapi.wording import placeholder_name

# No resource has a name of so many parts, and hostile paths are to take no time.
_SEGMENTS = 100
# `.json`, and what is left of `{id}.{format}`.
_FORMAT = re.compile(r"(?:\.|\.(?:json|xml|html|csv|js))$")
_UNSENT = re.compile("[^!-~]+")
_PAIR = re.compile("([A-Za-z0-9_.-]+)=([A-Za-z0-9_.-]+)")


# Texts, and None where a placeholder stands: where in an API's paths something is.
Place = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Translation:
    """A path as patterns spell it, and `named`, its pieces as resources do; `kept`, how many of them the resource has.

    `names`: by each placeholder what the document calls it. `query`: what stands in the path's query. `wrong`: why a
    match cannot say it; `segments` are there all the same.
    """

    match: str
    segments: tuple[Segment, ...]
    slash: bool = False
    named: tuple[str, ...] = ()
    kept: int = 0
    rests: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    wrong: str | None = None

    @property
    def texts(self) -> Place:
        """The segments' texts; None for each that is no text alone."""
        return tuple(one if isinstance(one, str) else None for one in self.segments)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The placeholders, from the left."""
        return tuple(one for one in self.segments if isinstance(one, Slot))

    def placed_slots(self) -> Iterator[tuple[int, Place, Slot]]:
        """The same, each with its place among the segments and what stands before it."""
        texts = self.texts
        return ((at, texts[:at], one) for at, one in enumerate(self.segments) if isinstance(one, Slot))

    @property
    def resource(self) -> str:
        return "/".join(self.named[: self.kept])

    @property
    def whole(self) -> bool:
        """Whether the path ends with what names the thing, and nothing stands behind it."""
        return bool(self.names) and self.kept == len(self.named)

    @property
    def last(self) -> str:
        """The last text of the path."""
        return next((one for one in reversed(self.segments) if isinstance(one, str)), "")

    @property
    def partial(self) -> tuple[Segment, ...]:
        """The segments where one is text and a placeholder in one, and requests can have it; else none."""
        parts = [one for one in self.segments if isinstance(one, Partial)]
        return self.segments if parts and not any(one.is_refused for one in parts) else ()

    @property
    def names_format(self) -> bool:
        """Whether it is another path's with the format of the answer at its end: `/docs/{id}.json`."""
        last = self.segments[-1] if self.segments and not self.slash else None
        return isinstance(last, Partial) and last.is_format

    @property
    def takes_format(self) -> bool:
        """Whether it looks like one of an API that takes formats there: `/docs/{id}/`, `/docs.json`."""
        last = self.segments[-1] if self.segments else ""
        if self.slash:
            return isinstance(last, Slot)
        return (
            _FORMAT.search(last.text if isinstance(last, Partial) else "" if isinstance(last, Slot) else last)
            is not None
        )


def translate(path: str, rests: frozenset[str] = frozenset()) -> Translation:
    """A path template of OpenAPI (section 4.8.8). `wrong` says what a match cannot. `rests`: placeholders that may be
    several segments, which a match can say of the last one.
    """
    bare, mark, query = path.partition("?")
    pieces = bare.removeprefix("/").split("/", _SEGMENTS)
    if len(pieces) > _SEGMENTS:
        return Translation(path, (), wrong=f"its path has more than {_SEGMENTS} segments; shorten it")
    slash = not pieces[-1]
    segments = tuple(map(parse_segment, pieces[:-1] if slash else pieces))
    last = segments[-1] if segments and not slash else None
    if isinstance(last, Slot) and last.name in rests:
        segments = (*segments[:-1], Slot(last.name, rest=True))
    pairs = _pairs(query) if mark else {}
    if not path.startswith("/"):
        return Translation(path, segments, wrong="its path does not begin with a slash; correct the document")
    if any(isinstance(one, Partial) for one in segments):
        why = "a segment of its path is text and a placeholder in one, which no match can say exactly"
        return Translation(path, segments, slash, wrong=why)
    if isinstance(pairs, Wrong):
        return Translation(path, segments, slash, wrong=pairs.message)
    return _spelled(pieces, Translation(path, segments, slash, query=pairs))


def _spelled(pieces: list[str], read: Translation) -> Translation:
    names: dict[str, str] = {}
    taken: set[str] = set()
    rests: set[str] = set()
    named: list[str] = []
    for at, segment in enumerate(read.segments):
        if not isinstance(segment, Slot):
            named.append(escaped(str(segment)))
            pieces[at] = _sent(pieces[at])
            continue
        name = placeholder_name(segment.name, taken)
        names[name] = segment.name
        rests |= {name} if segment.rest else set()
        pieces[at] = f"{{{name}...}}" if segment.rest else f"{{{name}}}"
        named.append(f"{{path.{name}}}")
    # Behind the last placeholder stand a collection or an action of what it names. Without one, the path is the name.
    slots = [at for at, one in enumerate(read.segments, 1) if isinstance(one, Slot)]
    kept = slots[-1] if slots else len(named)
    return replace(
        read,
        match="/" + "/".join(pieces),
        named=tuple(named),
        kept=kept,
        rests=frozenset(rests),
        names=names,
    )


def _sent(text: str) -> str:
    """As clients send it: a document may have letters and blanks in a path that no request can have."""
    return _UNSENT.sub(_percent, text) if text.isprintable() else text


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


def _pairs(query: str) -> Mapping[str, str] | Wrong:
    """What a rule can name of a path's query: plain values, each of one name."""
    found = [_PAIR.fullmatch(pair) for pair in query.split("&")]
    pairs = {pair[1]: pair[2] for pair in found if pair is not None}
    if len(pairs) < len(found):
        return Wrong("the query in its path is no plain `name=value`; say it in a rule with `when: {query: ...}`")
    return pairs
