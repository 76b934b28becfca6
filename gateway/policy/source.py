"""YAML 1.2 core with the place of every key and value.

PyYAML's own constructor reads YAML 1.1 (`on`, `010`, `12:30` become other things), keeps the last of two equal keys
and runs tags. So only its events are taken. Anchors, aliases, merge keys and tags are refused: a policy has to read
the same to whoever reviews it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import yaml

from gateway.policy.finding import Finding

Path = tuple[str | int, ...]
YamlValue = None | bool | int | Decimal | str | list["YamlValue"] | dict[str, "YamlValue"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Narrower than the core schema: `010` and `+5` stay text, and are refused where a number is wanted, because readers
# of YAML disagree about them. Twenty digits hold every number that a policy may name.
_INTEGER = re.compile("-?(?:0|[1-9][0-9]{0,19})")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,19})(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,3})?")
# A policy nests seven deep; the bound keeps a hostile file from exhausting the stack.
_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Position:
    """Line and column, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Source:
    """One file's content and where each part of it stands. A path is the keys and indices that lead to a value."""

    file: str
    value: YamlValue
    values: Mapping[Path, Position] = field(repr=False)
    keys: Mapping[Path, Position] = field(repr=False)

    def at(self, path: Path) -> Position:
        """Where the value at `path` begins, or the nearest one around it. Steps that the file lacks are skipped."""
        return self.values[self._known(path)]

    def at_key(self, path: Path) -> Position:
        """Where the key at the end of `path` stands, or the nearest value around it."""
        known = self._known(path)
        return self.keys.get(known, self.values[known])

    def finding(self, path: Path, message: str) -> Finding:
        position = self.at(path)
        return Finding(self.file, position.line, position.column, message)

    def key_finding(self, path: Path, message: str) -> Finding:
        position = self.at_key(path)
        return Finding(self.file, position.line, position.column, message)

    def _known(self, path: Path) -> Path:
        known: Path = ()
        for step in path:
            if (*known, step) in self.values:
                known = (*known, step)
        return known


def read_source(file: str, text: str) -> Source | tuple[Finding, ...]:
    """Read the one YAML document of a file, or say everything that is wrong with it up to its first syntax error."""
    reader = _Reader(file, yaml.parse(text, Loader=_LOADER))
    try:
        value = reader.read_document()
    except yaml.MarkedYAMLError as error:
        at = _position(error.problem_mark or error.context_mark)
        message = f"this is not valid YAML ({error.problem}); check quotes, brackets and indentation"
        reader.findings.append(Finding(file, at.line, at.column, message))
        value = None
    except yaml.YAMLError:
        # The only other kind: the reader's, about characters that YAML forbids.
        reader.findings.append(Finding(file, 1, 1, "the file holds a control character; remove it"))
        value = None
    if reader.findings:
        return tuple(reader.findings)
    return Source(file, value, reader.values, reader.keys)


class _Reader:
    """Builds values from events, and notes places and findings on the way."""

    def __init__(self, file: str, events: Iterator[yaml.Event]) -> None:
        self.findings: list[Finding] = []
        self.values: dict[Path, Position] = {(): Position(1, 1)}
        self.keys: dict[Path, Position] = {}
        self._file = file
        self._events = events

    def read_document(self) -> YamlValue:
        next(self._events)  # the stream's start
        event = next(self._events)
        if isinstance(event, yaml.StreamEndEvent):
            self._note(event, "the file is empty; write `upstream:`, `url:` and `writes:`")
            return None
        value = self._read(next(self._events), (), 0)
        next(self._events)  # the document's end
        event = next(self._events)
        if not isinstance(event, yaml.StreamEndEvent):
            self._note(event, "a second document begins; write one policy a file")
        return value

    def _note(self, event: yaml.Event, message: str) -> None:
        at = _position(event.start_mark)
        self.findings.append(Finding(self._file, at.line, at.column, message))

    def _read(self, event: yaml.Event, path: Path, depth: int) -> YamlValue:
        self.values[path] = _position(event.start_mark)
        self._refuse_indirection(event)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if depth == _DEPTH and not isinstance(event, yaml.AliasEvent):
            self._note(event, f"this nests deeper than {_DEPTH} levels; flatten it")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._read_list(path, depth + 1)
        if isinstance(event, yaml.MappingStartEvent):
            return self._read_mapping(path, depth + 1)
        return None

    def _refuse_indirection(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            self._note(event, f"the alias `*{event.anchor}` is refused; write the value out, or use `defaults:`")
        elif getattr(event, "anchor", None):
            self._note(event, "an anchor (&) is refused; write the value out, or use `defaults:`")
        if getattr(event, "tag", None):
            self._note(event, "a tag (!) is refused; remove it")

    def _read_list(self, path: Path, depth: int) -> YamlValue:
        items: list[YamlValue] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._read_nested(event, (*path, len(items)), depth))
        return items

    def _read_mapping(self, path: Path, depth: int) -> YamlValue:
        members: dict[str, YamlValue] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._read_key(event, depth)
            if key in members:
                first = self.keys[(*path, key)]
                self._note(event, f"`{key}` stands here twice, first in line {first.line}; remove one")
            place = (*path, key)
            self.keys[place] = _position(event.start_mark)
            members[key] = self._read_nested(next(self._events), place, depth)
        return members

    def _read_key(self, event: yaml.Event, depth: int) -> str:
        self._refuse_indirection(event)
        if isinstance(event, yaml.ScalarEvent):
            if event.value == "<<" and not event.style:
                self._note(event, "a merge key (<<) is refused; write the fields out, or use `defaults:`")
            return str(event.value)
        self._note(event, "a key must be plain text")
        self._read_nested(event, ("?",), depth)
        return "?"

    def _read_nested(self, event: yaml.Event, path: Path, depth: int) -> YamlValue:
        if depth <= _DEPTH:
            return self._read(event, path, depth)
        self._skip(event)
        return None

    def _skip(self, event: yaml.Event) -> None:
        """Pass over what nests too deep, without recursion."""
        opened = 0
        while True:
            if isinstance(event, yaml.CollectionStartEvent):
                opened += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                opened -= 1
            if not opened:
                return
            event = next(self._events)


def _position(mark: Any) -> Position:
    """A parser's mark counts from 0. Any: the two parsers have marks of their own, without a common class."""
    return Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)


def _scalar(event: yaml.ScalarEvent) -> YamlValue:
    text = str(event.value)
    # Quoted, or a block: text, whatever it looks like. (A plain scalar's style is None or empty, by parser.)
    return text if event.style else reads_as(text)


def reads_as(text: str) -> bool | int | Decimal | str | None:
    """What a scalar is that stands without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return Decimal(text)
    return text
