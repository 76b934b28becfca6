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
from gateway.policy.body import Body, BodyWanted
from gateway.policy.choice import Choice, Placed
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.graphql import write_in_url
from gateway.policy.mcp import changes_nothing, is_endpoint
from gateway.policy.pattern import READ_METHODS, Pattern, split_slash

# A document of so many bytes has a thousand tokens at most, which are parsed in five milliseconds.
_GRAPHQL_AT_ONCE = 2 << 10


@dataclass(frozen=True, slots=True)
class Matched:
    """The rule that takes a write, what its path placeholders took, and the body as far as it was read."""

    entry: Entry
    path: Mapping[str, str]
    body: Body = field(repr=False, compare=False)


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
    `at_once`: of so many bytes a match takes a few milliseconds at most.
    """

    upstream: Upstream
    matched: Matched | None = None
    at_once: int = 32 << 10


class _Node:
    """One step of the tree. `placed` are the patterns that end at it, `choice` how they are asked."""

    __slots__ = ("any", "choice", "literals", "placed", "rest")

    def __init__(self) -> None:
        self.literals: dict[str, _Node] = {}
        self.any: _Node | None = None
        self.rest: _Node | None = None
        self.placed: list[Placed] = []
        self.choice: Choice | None = None

    def place(self, placed: Placed) -> None:
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
        node.placed.append(placed)

    def finish(self) -> None:
        """No more is placed here or below."""
        pending = [self]
        while pending:
            node = pending.pop()
            node.choice = Choice(node.placed) if node.placed else None
            pending.extend(node.literals.values())
            pending.extend(below for below in (node.any, node.rest) if below is not None)

    def walk(self, segments: tuple[str, ...]) -> Iterator[Choice]:
        """The patterns that take a path, the more specific ones first."""
        pending = [(self, 0)]
        end = len(segments)
        while pending:
            node, at = pending.pop()
            if at == end:
                if node.choice is not None:
                    yield node.choice
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

    __slots__ = ("_counts", "_graphql", "_needs_body", "_paths", "_roots", "upstream")

    def __init__(self, upstream: Upstream, entries: Iterable[Entry | ReadOnly]) -> None:
        self.upstream = upstream
        self._roots: dict[tuple[str, bool], _Node] = {}
        self._paths: dict[bool, _Node] = {}
        self._counts = False
        graphql: dict[object, Pattern] = {}
        for entry in entries:
            self._counts = self._counts or _counts(entry)
            for pattern in entry.matcher.patterns:
                self._place(Placed(entry, pattern))
                if entry.matcher.reads_graphql:
                    graphql[pattern.shape] = pattern
        for root in (*self._roots.values(), *self._paths.values()):
            root.finish()
        self._graphql = tuple(graphql.values())
        self._needs_body = NeedsBody(upstream, at_once=_GRAPHQL_AT_ONCE) if graphql else NeedsBody(upstream)

    def _place(self, placed: Placed) -> None:
        pattern = placed.pattern
        for method in pattern.methods:
            self._roots.setdefault((method, pattern.slash), _Node()).place(placed)
        self._paths.setdefault(pattern.slash, _Node()).place(placed)

    def match(self, request: Request, caller: Caller) -> Matched | Read | NeedsBody | Refused:
        if request.method in READ_METHODS:
            return self._read(request, caller)
        body = Body(request)
        if self.upstream.protocol == "mcp" and is_endpoint(request.target, self.upstream.mount):
            harmless = changes_nothing(request, body)
            if isinstance(harmless, BodyWanted):
                return NeedsBody(self.upstream)
            if harmless:
                return harmless if isinstance(harmless, Refused) else Read(self.upstream, None)
        if request.target.has_encoded_slash and self.upstream.mount.encoded_slash == "refuse":
            detail = "Nothing was forwarded: the path has an encoded slash (%2F), which some servers take for a slash."
            return Refused(AMBIGUOUS_TARGET, f"{detail} Use a path without it.")
        segments, slash = split_slash(request.target)
        root = self._roots.get((request.method, slash))
        for choice in root.walk(segments) if root else ():
            taker = choice.taker(request, body)
            if isinstance(taker, BodyWanted):
                return self._needs_body
            if isinstance(taker, Refused):
                return taker
            if taker is not None:
                return self._taken(taker, request, caller, body)
        return self._unmatched(body)

    def _unmatched(self, body: Body) -> Refused:
        operation = body.operation() if self._graphql and body.has_operation else "this write"
        detail = f"Nothing was forwarded: no rule of upstream {self.upstream.name} allows {operation}."
        return Refused(NO_POLICY, f"{detail} Do not repeat it; a policy has to allow it first.")

    def _taken(
        self, placed: Placed, request: Request, caller: Caller, body: Body
    ) -> Matched | Read | NeedsBody | Refused:
        entry = placed.entry
        if isinstance(entry, ReadOnly):
            return Read(self.upstream, self._counted_resource(request, caller), entry)
        lacking = None if entry.template.reads is None else body.lacking(entry.template.reads)
        if lacking is not None:
            return self._needs_body if isinstance(lacking, BodyWanted) else lacking
        matched = Matched(entry, placed.pattern.captured(split_slash(request.target)[0]), body)
        lacking = _afterwards_lacking(matched, request, caller)
        if lacking is not None:
            return NeedsBody(self.upstream, matched) if isinstance(lacking, BodyWanted) else lacking
        return matched

    def _read(self, request: Request, caller: Caller) -> Read | Refused:
        if self.upstream.reads == "deny":
            detail = f"Nothing was forwarded: upstream {self.upstream.name} takes no reads through this gateway."
            return Refused(READS_DENIED, f"{detail} Do not repeat it.")
        target = request.target
        if self._graphql and target.query and any(pattern.resembles(target) for pattern in self._graphql):
            fault = write_in_url(target)
            if fault is not None:
                return fault
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
        unread = Body(request)
        names: set[str] = set()
        choice = next(root.walk(segments), None) if root else None
        for placed in choice.entries if choice else ():
            if not _counts(placed.entry):
                continue
            name = placed.entry.template.fill(request, placed.pattern.captured(segments), caller, unread)
            if isinstance(name, Refused):
                return None
            names.add(name)
        return ResourceKey(names.pop()) if len(names) == 1 else None


def _afterwards_lacking(matched: Matched, request: Request, caller: Caller) -> BodyWanted | Refused | None:
    """What is lacking of the body once the resource is told: for an error in the call's own words, for the key, or for
    the pointers by which intents are compared."""
    key, fingerprint = matched.entry.key, matched.entry.fingerprint
    if matched.entry.rule.errors == "jsonrpc":
        return matched.body.lacking("json")
    if key is None or not (key.reads or fingerprint.needs_json):
        return None
    named = key.read(request, matched.path, caller, matched.body)
    if isinstance(named, BodyWanted):
        return named if key.reads is None else matched.body.lacking(key.reads)
    return matched.body.lacking("json") if fingerprint.needs_json and isinstance(named, str) else None


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
