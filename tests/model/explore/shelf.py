"""The store as a value, and its scripts as functions of it.

The scripts are the product's own text, on a real server. One line of them is another one: the store's clock. A call
puts a state into the server, runs one script, and takes out what is there then; what was asked before is remembered.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import redis

from gateway.store.keys import origin as origin_key
from gateway.store.links.link import Reply
from gateway.store.script import Script
from tests.model.explore.era import ERA_MS, moved_text, renamed_text

# Each key with its type and its content, by name; scores stand before their members.
Content = tuple[tuple[bytes, bytes, tuple[bytes, ...]], ...]

VERBS = (
    *("grant", "renew", "release", "register", "advance", "admit", "settle", "sweep", "resolve", "recall", "look"),
    *("regress_shard", "accept_shard"),
)
_BEGIN = "\nbegin(KEYS)\n"
_NAME = "explore"
_CLOCK = "local time = redis.call('TIME')"


class Unplantable(Exception):
    """The text that is to be replaced is not there, or is there more than once."""


@dataclass(frozen=True, slots=True)
class Change:
    """In the text of all scripts `old` stands once, and is replaced."""

    old: str
    new: str

    def planted(self, text: str) -> str:
        """Raises Unplantable."""
        if text.count(self.old) != 1:
            raise Unplantable(f"it is there {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new)


class State:
    """A store's content. A shelf has each content once: two states are equal where they are the same one."""

    __slots__ = ("content",)

    def __init__(self, content: Content) -> None:
        self.content = content


class Shelf:
    """One server, and what is known of its scripts."""

    def __init__(self, url: str, changes: Sequence[Change] = (), shard: str = "") -> None:
        self.calls = 0
        """How often a script was run, and not remembered."""
        # Untyped: redis-py's replies are unions.
        self._redis: Any = redis.Redis.from_url(url)
        self._redis.function_load(_library(changes), replace=True)
        self._origin = origin_key(shard).encode()
        self._known: dict[tuple[object, ...], tuple[Reply, State]] = {}
        self._states: dict[Content, State] = {}
        self._later: dict[tuple[State, int], State] = {}
        self.empty = self._state(())

    def close(self) -> None:
        self._redis.function_delete(_NAME)
        self._redis.close()

    def call(
        self, state: State, verb: str, keys: Sequence[str], arguments: Sequence[str | bytes]
    ) -> tuple[Reply, State]:
        """The script's reply, and the store behind it. Raises redis.ResponseError where the script failed."""
        question = (state, verb, keys, tuple(arguments))
        known = self._known.get(question)
        if known is None:
            self.calls += 1
            flat = [word for key, kind, content in state.content for word in (key, kind, len(content), *content)]
            words = (verb, len(arguments), *arguments, *flat)
            reply, found = self._redis.execute_command("FCALL", _NAME, len(keys), *keys, *words)
            known = self._known[question] = reply, self._state(tuple((key, kind, tuple(c)) for key, kind, c in found))
        return known

    def origin_of(self, state: State) -> str | None:
        """What the resource's shard began with, as far as the store knows."""
        return next((content[0].decode() for key, _, content in state.content if key == self._origin), None)

    def begun_with(self, state: State, origin: str) -> State:
        """The store with another origin of the resource's shard."""
        rest = (entry for entry in state.content if entry[0] != self._origin)
        return self._state(tuple(sorted((*rest, (self._origin, b"string", (origin.encode(),))))))

    def later(self, state: State, by_ms: int) -> State:
        """The store when so much time has passed."""
        known = self._later.get((state, by_ms))
        if known is None:
            known = self._later[state, by_ms] = self._each(state, lambda word: moved_text(word, by_ms))
        return known

    def renamed(self, state: State, names: Mapping[int, int]) -> State:
        """The store with other epochs."""
        return self._each(state, lambda word: renamed_text(word, names)) if names else state

    def _each(self, state: State, change: Callable[[bytes], bytes]) -> State:
        return self._state(tuple((key, kind, tuple(map(change, content))) for key, kind, content in state.content))

    def _state(self, content: Content) -> State:
        return self._states.setdefault(content, State(content))


def _library(changes: Sequence[Change]) -> str:
    head = Script("admit").text.partition(_BEGIN)[0]
    verbs = "\n".join(f"verbs.{name} = function(KEYS, ARGV){_BEGIN}{_verb(name)}\nend" for name in VERBS)
    text = f"{head}\nlocal verbs = {{}}\n{verbs}\n"
    for change in (Change(_CLOCK, f"local time = {{ {ERA_MS // 1000}, 0 }}"), *changes):
        text = change.planted(text)
    step = (files("tests.model.explore") / "step.lua").read_text("utf-8")
    return f"#!lua name={_NAME}\n{text}{step}"


def _verb(name: str) -> str:
    return Script(name).text.partition(_BEGIN)[2]
