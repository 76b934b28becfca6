"""Which upstream and which rule take a request. Pure, and fast among thousands of rules: a tree of path segments.

The more specific rule wins: from the left, literal text before `{name}` before `{rest...}`; with the same path, rules
with conditions before the one without. `lint.py` refuses rules that this leaves without an order.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from gateway.core.caller import Caller
from gateway.core.decision import AMBIGUOUS_TARGET, NO_POLICY, NO_UPSTREAM, READS_DENIED, Refused
from gateway.core.request import Request
from gateway.core.rule import Upstream
from gateway.core.write import ResourceKey
from gateway.policy.condition import BodyWanted, first_unmet
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.jsonbody import JsonReader
from gateway.policy.pattern import READ_METHODS, Pattern, split_slash


@dataclass(frozen=True, slots=True)
class Matched:
    """The rule that takes a write, what its path placeholders took, and the body as far as it was read."""

    entry: Entry
    path: Mapping[str, str]
    body: JsonReader = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Read:
    """Something that changes nothing, by its method or by the `read_only` entry that takes it.

    `counted`: the resource whose count of writes is shown with the answer.
    """

    upstream: Upstream
    counted: ResourceKey | None
    entry: ReadOnly | None = None


@dataclass(frozen=True, slots=True)
class NeedsBody:
    """A condition, a resource or an intent reads the body: read it, up to `upstream.limits.body`, and match again.

    `matched`: the rule that will take it, where this is told already: only the intent's key or fingerprint wants it.
    """

    upstream: Upstream
    matched: Matched | None = None


@dataclass(frozen=True, slots=True)
class _Placed:
    """An entry by way of one of its patterns."""

    entry: Entry | ReadOnly
    pattern: Pattern


class _Node:
    """One step of the tree. `here` are the patterns that end at it, those with conditions first."""

    __slots__ = ("any", "here", "literals", "rest")

    def __init__(self) -> None:
        self.literals: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.rest: _Node | None = None
        self.here: list[_Placed] = []

    def place(self, placed: _Placed) -> None:
        node = self
        for segment in placed.pattern.segments:
            if segment is None:
                node.any = node.any or _Node()
                node = node.any
            else:
                node = node.literals.setdefault(segment, _Node())
        if placed.pattern.rest is not None:
            node.rest = node.rest or _Node()
            node = node.rest
        node.here.append(placed)
        node.here.sort(key=lambda one: not one.entry.matcher.conditions)

    def walk(self, segments: tuple[str, ...]) -> Iterator[list[_Placed]]:
        """The patterns that take a path, the more specific ones first."""
        pending = [(self, 0)]
        end = len(segments)
        while pending:
            node, at = pending.pop()
            if at == end:
                if node.here:
                    yield node.here
                continue
            if node.rest is not None:
                pending.append((node.rest, end))
            if node.any is not None:
                pending.append((node.any, at + 1))
            literal = node.literals.get(segments[at])
            if literal is not None:
                pending.append((literal, at + 1))


class Index:
    """The entries of one upstream, by method and path."""

    __slots__ = ("_counts", "_paths", "_roots", "upstream")

    def __init__(self, upstream: Upstream, entries: Iterable[Entry | ReadOnly]) -> None:
        self.upstream = upstream
        self._roots: dict[tuple[str, bool], _Node] = {}
        self._paths: dict[bool, _Node] = {}
        self._counts = False
        for entry in entries:
            self._counts = self._counts or _counts(entry)
            for pattern in entry.matcher.patterns:
                self._place(_Placed(entry, pattern))

    def _place(self, placed: _Placed) -> None:
        pattern = placed.pattern
        for method in pattern.methods:
            self._roots.setdefault((method, pattern.slash), _Node()).place(placed)
        self._paths.setdefault(pattern.slash, _Node()).place(placed)

    def match(self, request: Request, caller: Caller) -> Matched | Read | NeedsBody | Refused:
        if request.method in READ_METHODS:
            return self._read(request, caller)
        if request.target.has_encoded_slash and self.upstream.mount.encoded_slash == "refuse":
            detail = "Nothing was forwarded: the path has an encoded slash (%2F), which some servers take for a slash."
            return Refused(AMBIGUOUS_TARGET, f"{detail} Use a path without it.")
        segments, slash = split_slash(request.target)
        root = self._roots.get((request.method, slash))
        body = JsonReader(request.body)
        for here in root.walk(segments) if root else ():
            for placed in here:
                unmet = first_unmet(placed.entry.matcher.conditions, request, body)
                if isinstance(unmet, BodyWanted):
                    return NeedsBody(self.upstream)
                if isinstance(unmet, Refused):
                    return unmet
                if unmet is None:
                    return self._taken(placed, request, caller, body)
        detail = f"Nothing was forwarded: no rule of upstream {self.upstream.name} allows this write."
        return Refused(NO_POLICY, f"{detail} Do not repeat it; a policy has to allow it first.")

    def _taken(self, placed: _Placed, request: Request, caller: Caller, body: JsonReader) -> Matched | Read | NeedsBody:
        entry = placed.entry
        if isinstance(entry, ReadOnly):
            return Read(self.upstream, self._counted_resource(request, caller), entry)
        if entry.template.needs_json and not body.is_there:
            return NeedsBody(self.upstream)
        matched = Matched(entry, placed.pattern.captured(split_slash(request.target)[0]), body)
        if not body.is_there and _intent_wants_body(matched, request, caller):
            return NeedsBody(self.upstream, matched)
        return matched

    def _read(self, request: Request, caller: Caller) -> Read | Refused:
        if self.upstream.reads == "deny":
            detail = f"Nothing was forwarded: upstream {self.upstream.name} takes no reads through this gateway."
            return Refused(READS_DENIED, f"{detail} Do not repeat it.")
        return Read(self.upstream, self._counted_resource(request, caller))

    def _counted_resource(self, request: Request, caller: Caller) -> ResourceKey | None:
        """The one resource that the counting rules for this very path agree on; None where they name several, or none.

        Only the most specific path is asked: `/reports/search` is no report, if an entry of any kind names it.
        """
        target = request.target
        if not self._counts or (target.has_encoded_slash and self.upstream.mount.encoded_slash == "refuse"):
            return None
        segments, slash = split_slash(target)
        root = self._paths.get(slash)
        unread = JsonReader(None)
        names: set[str] = set()
        for placed in next(root.walk(segments), []) if root else []:
            if not _counts(placed.entry):
                continue
            name = placed.entry.template.fill(request, placed.pattern.captured(segments), caller, unread)
            if isinstance(name, Refused):
                return None
            names.add(name)
        return ResourceKey(names.pop()) if len(names) == 1 else None


def _intent_wants_body(matched: Matched, request: Request, caller: Caller) -> bool:
    """Whether the key cannot be told without the body, or is there and pointers into the body compare the intent."""
    key, fingerprint = matched.entry.key, matched.entry.fingerprint
    if key is None or not (key.needs_json or fingerprint.needs_json):
        return False
    named = key.read(request, matched.path, caller, matched.body)
    return isinstance(named, BodyWanted) or (fingerprint.needs_json and isinstance(named, str))


def _counts(entry: Entry | ReadOnly) -> TypeGuard[Entry]:
    """Whether the gateway counts this rule's writes of a resource that a read can name too."""
    return isinstance(entry, Entry) and entry.rule.revision == "gateway" and entry.template.reads_only_target


class Mounts:
    """Which upstream a request belongs to: one mounted for its host before one for any, then the longest path."""

    __slots__ = ("_by_host", "_depth", "_hosts")

    def __init__(self, indices: Iterable[Index]) -> None:
        self._by_host: dict[tuple[str | None, tuple[str, ...]], Index] = {}
        for index in indices:
            mount = index.upstream.mount
            self._by_host[(mount.host, mount.segments)] = index
        self._hosts = any(host is not None for host, _ in self._by_host)
        self._depth = max((len(segments) for _, segments in self._by_host), default=0)

    def find(self, request: Request) -> Index | Refused:
        segments = request.target.segments
        for host in (named_host(request), None) if self._hosts else (None,):
            for length in range(min(self._depth, len(segments)), -1, -1):
                index = self._by_host.get((host, segments[:length]))
                if index is not None:
                    return index
        detail = "Nothing was forwarded: no upstream is mounted at this path."
        return Refused(NO_UPSTREAM, f"{detail} Do not repeat it; correct the URL.")


def named_host(request: Request) -> str | None:
    """The name in `Host`, lower case and without its port; None without one."""
    value = request.headers.first(b"host")
    if not value:
        return None
    host = value.decode("latin-1").lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
