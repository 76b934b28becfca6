"""Which upstream and which rule take a request. Pure, and as fast among thousands of rules, whatever they are.

The more specific rule wins: from the left, literal text before `{name}` before `{rest...}`; with the same path, rules
with conditions before the one without. `lint.py` refuses rules that this leaves without an order.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from gateway.core.browser import is_of_other_site
from gateway.core.caller import Caller
from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    BAD_REQUEST,
    FORBIDDEN,
    NO_POLICY,
    NO_UPSTREAM,
    OF_BODIES,
    READS_DENIED,
    Refused,
)
from gateway.core.frozen import frozen
from gateway.core.host import host_name
from gateway.core.request import Request
from gateway.core.rule import Mount, Upstream
from gateway.core.target import Target
from gateway.core.websocket import asks_for_upgrade
from gateway.core.write import ResourceKey
from gateway.policy.bodies import Bodies
from gateway.policy.choice import Choice, Placed
from gateway.policy.entry import AnyEntry, Closed, Entry, ReadOnly
from gateway.policy.lenient.closed_reads import ClosedReads
from gateway.policy.lenient.closed_writes import CUT_IS_CLOSED, ClosedWrites
from gateway.policy.lenient.cut_path import is_divided, readings_where_cut
from gateway.policy.lenient.doubtful_path import DoubtfulPaths
from gateway.policy.lenient.segment import lenient_segments
from gateway.policy.only import Only
from gateway.policy.own_host import OwnHost
from gateway.policy.paths import Paths
from gateway.policy.pattern import READ_METHODS, Pattern, Shape, split_slash
from gateway.policy.reading.beside import brings_body
from gateway.policy.reading.beside_path import query_overrules
from gateway.policy.reading.body import Body, BodyWanted, body_of, unread_body
from gateway.policy.reading.graphql import may_be_write_in_url, write_in_url
from gateway.policy.reading.mcp import changes_nothing, is_answer, is_endpoint, named_call, refused_as_task
from gateway.policy.reading.parameters import overrides_method
from gateway.policy.template import Template, misspelled_place

_READ_WITH_BODY = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: a DELETE that changes nothing by its path or query has a body, which some servers read in "
    "their place. Send none.",
    OF_BODIES,
)
# A document of so many bytes has a thousand tokens at most, which are parsed in five milliseconds.
_GRAPHQL_AT_ONCE = 2 << 10


@frozen
class Matched:
    """The rule that takes a write, what its path placeholders took, and the body as far as it was read.

    `unlisted`: what an enforced rule would refuse it with, where one that only observes does not list all that it says.
    """

    entry: Entry
    path: Mapping[str, str]
    body: Body = field(repr=False, compare=False)
    unlisted: Refused | None = None


@frozen
class Read:
    """Something that changes nothing, by its method or by the `read_only` entry that takes it.

    `counted`: the resource whose count of writes is shown with the answer.
    """

    upstream: Upstream
    counted: ResourceKey | None
    entry: ReadOnly | None = None

    @property
    def only(self) -> Only | None:
        return None if self.entry is None else self.entry.only


@dataclass(frozen=True, slots=True)
class NeedsBody:
    """A condition, a resource or an intent reads the body: read it, up to `upstream.limits.body`, and match again.

    `matched`: the rule that will take it, where this is told already: only the intent's key or fingerprint wants it.
    `at_once`: of so many bytes a match takes a few milliseconds at most.
    """

    upstream: Upstream
    matched: Matched | None = None
    at_once: int = 32 << 10


class Index:
    """The entries of one upstream, by method and path."""

    __slots__ = (
        "_bodies",
        "_choice",
        "_closed_reads",
        "_closed_writes",
        "_counted",
        "_doubtful",
        "_graphql",
        "_merged",
        "_needs_body",
        "_own_host",
        "upstream",
    )

    def __init__(self, upstream: Upstream, entries: Sequence[AnyEntry], deeper: Sequence[Upstream] = ()) -> None:
        """`deeper`: the upstreams that are mounted below this one."""
        self.upstream = upstream
        self._merged = upstream.mount.names == "merged"
        self._own_host = OwnHost.of(upstream)
        self._bodies = Bodies.of(upstream.mount)
        placed = [Placed(entry, pattern) for entry in entries for pattern in entry.matcher.patterns]
        self._choice = Choice(placed)
        paths = [one.pattern for one in placed if not one.is_anywhere]
        opened = (one.pattern for one in placed if not isinstance(one.entry, Closed))
        self._doubtful = DoubtfulPaths(upstream.mount, deeper, paths, opened)
        self._closed_writes = ClosedWrites(upstream, placed, self._choice) or None
        self._closed_reads = ClosedReads(upstream, entries) or None
        self._counted = _counted(placed)
        graphql = {one.pattern.lenient.shape: one.pattern.lenient for one in placed if one.entry.matcher.reads_graphql}
        self._graphql = Paths(tuple(graphql.values())) if graphql else None
        self._needs_body = NeedsBody(upstream, at_once=_GRAPHQL_AT_ONCE) if graphql else NeedsBody(upstream)

    def takes_graphql(self, target: Target) -> bool:
        """Whether some entry reads the operations that are sent to this path."""
        return bool(self._graphql and self._graphql.takers(lenient_segments(split_slash(target)[0]), slash=False))

    def match(self, request: Request, caller: Caller) -> Matched | Read | NeedsBody | Refused:
        if self.upstream.protocol == "mcp" and is_of_other_site(request.headers):
            # MCP, Streamable HTTP, "Security Warning": a foreign Origin is refused, whatever is asked.
            return Refused(FORBIDDEN, "Nothing was forwarded: a browser has sent it for a page of another site.")
        doubt = self._own_host and self._own_host.refusal(request.headers)
        doubt = doubt or self._doubtful.of_any(request.target)
        if doubt is not None:
            return doubt
        # Of reads too: WordPress deletes at a GET.
        overridden = None if request.target.query is None else overrides_method(request.target)
        if overridden is not None:
            return overridden
        if request.method in READ_METHODS and not asks_for_upgrade(request.headers):
            return self._read(request, caller)
        unlisted = None if self._bodies is None else self._bodies.refusal(request)
        if unlisted is not None:
            return unlisted
        body = body_of(request, self.upstream)
        if self.upstream.protocol == "mcp" and is_endpoint(request.target, self.upstream.mount):
            harmless = changes_nothing(request, body)
            if isinstance(harmless, Refused):
                return harmless
            closed = self._closed_reads.refusal(request, body) if harmless is True and self._closed_reads else None
            if isinstance(harmless, BodyWanted) or isinstance(closed, BodyWanted):
                return NeedsBody(self.upstream)
            if harmless:
                return closed or Read(self.upstream, None)
        doubt = self._doubtful.of_write(request.target)
        if doubt is not None:
            return doubt
        segments, slash = split_slash(request.target)
        taker = self._choice.taker(request, segments, slash, body)
        if isinstance(taker, Placed):
            return self._taken(taker, request, caller, body)
        if isinstance(taker, BodyWanted):
            return self._needs_body
        if isinstance(taker, Refused):
            return taker
        return _not_switched() if asks_for_upgrade(request.headers) else self._unmatched(body)

    def _unmatched(self, body: Body) -> Refused:
        operation = body.operation() if self._graphql and body.has_operation else "this write"
        if self.upstream.protocol == "mcp" and is_answer(body):
            # What it does is done by the call that waits for it, which may have been overtaken.
            operation = "an answer to what the server asked: a call would go on with it"
        called = named_call(body) if self.upstream.protocol == "mcp" else None
        detail = f"Nothing was forwarded: no rule of upstream {self.upstream.name} allows {called or operation}."
        return Refused(NO_POLICY, f"{detail} Do not repeat it; a policy has to allow it first.", why=called)

    def _taken(
        self, placed: Placed, request: Request, caller: Caller, body: Body
    ) -> Matched | Read | NeedsBody | Refused:
        entry = placed.entry
        if isinstance(entry, Closed):
            return _closed(entry)
        doubt = self._doubtful.of_taken(request.method, placed.pattern, request.target)
        if doubt is not None:
            return doubt
        closed: BodyWanted | Refused | None = _fault_where_cut(entry, request.target)
        if closed is None and self._closed_writes:
            closed = self._closed_writes.refusal(placed.pattern, request, body)
        if closed is not None:
            return self._needs_body if isinstance(closed, BodyWanted) else closed
        path = placed.pattern.captured(split_slash(request.target)[0])
        if isinstance(entry, ReadOnly):
            return self._taken_as_read(entry, path, request, caller, body)
        return self._taken_as_write(entry, path, request, caller, body)

    def _taken_as_read(
        self, entry: ReadOnly, path: Mapping[str, str], request: Request, caller: Caller, body: Body
    ) -> Read | NeedsBody | Refused:
        if request.method == "DELETE" and brings_body(request) and not entry.matcher.reads_body:
            return _READ_WITH_BODY
        # It changes nothing as long as its body makes no other request of it.
        lacking = body.overruled(path, merged=True) if self._merged else None
        if lacking is None and entry.only is not None:
            lacking = _says_more(entry, entry.only, request, body)
        if lacking is not None:
            return self._needs_body if isinstance(lacking, BodyWanted) else lacking
        return Read(self.upstream, self._counted_resource(request, caller), entry)

    def _taken_as_write(
        self, entry: Entry, path: Mapping[str, str], request: Request, caller: Caller, body: Body
    ) -> Matched | NeedsBody | Refused:
        lacking = None if entry.template.reads is None else body.lacking(entry.template.reads)
        if lacking is None and entry.template.reads_query:
            lacking = body.lacking_beside_query()
        if lacking is not None:
            return self._needs_body if isinstance(lacking, BodyWanted) else lacking
        as_task = refused_as_task(body) if self.upstream.protocol == "mcp" else None
        if as_task is not None:
            return as_task
        misspelled = misspelled_place(entry.places, path) if entry.places else None
        if misspelled is not None:
            return misspelled
        matched = Matched(entry, path, body)
        if self._merged or (path and request.target.query is not None):
            lacking = body.overruled(path, merged=self._merged)
        if lacking is None and entry.only is not None:
            lacking = _says_more(entry, entry.only, request, body)
        if isinstance(lacking, Refused) and lacking.decision is NO_POLICY and entry.rule.mode == "observe":
            matched, lacking = replace(matched, unlisted=lacking), None
        lacking = lacking or _afterwards_lacking(matched, request, caller)
        if lacking is not None:
            return NeedsBody(self.upstream, matched) if isinstance(lacking, BodyWanted) else lacking
        return matched

    def _read(self, request: Request, caller: Caller) -> Read | Refused:
        if self.upstream.reads == "deny":
            detail = f"Nothing was forwarded: upstream {self.upstream.name} takes no reads through this gateway."
            return Refused(READS_DENIED, f"{detail} Do not repeat it.")
        if self._closed_reads is not None:
            closed = self._closed_reads.refusal(request, unread_body(request))
            closed = closed or self._closed_reads.refusal_where_cut(request)
            if isinstance(closed, Refused):
                return closed
        target = request.target
        doubt = self._doubtful.of_read(target)
        if doubt is not None:
            return doubt
        if self._graphql and target.query:
            fault = write_in_url(target) if self.takes_graphql(target) or may_be_write_in_url(target) else None
            if fault is not None:
                return fault
        return Read(self.upstream, self._counted_resource(request, caller))

    def _counted_resource(self, request: Request, caller: Caller) -> ResourceKey | None:
        """The one resource that the counting rules for this very path agree on; None where they name several, or none.

        Only the most specific path is asked: `/reports/search` is no report, if an entry of any kind names it.
        """
        target = request.target
        if not self._counted or is_divided(target, self.upstream.mount):
            return None
        segments, slash = split_slash(target)
        first = self._choice.first_of_path(segments, slash)
        if first and self._doubtful.cuts_format(first.pattern, target):
            # What it shows has another path.
            return None
        unread = unread_body(request)
        agreed: str | None = None
        for pattern, template in self._counted.get(first.pattern.shape, ()) if first else ():
            path = pattern.captured(segments)
            if path and target.query is not None and query_overrules(target.query, path):
                return None
            name = template.fill(request, path, caller, unread)
            if isinstance(name, Refused) or agreed not in (None, name):
                return None
            agreed = name
        return None if agreed is None else ResourceKey(agreed)


def _fault_where_cut(entry: Entry | ReadOnly, target: Target) -> Refused | None:
    """Where an entry lists the parameters of a query, and to some server there are some in the path."""
    if entry.only is None or entry.only.query is None:
        return None
    return CUT_IS_CLOSED if any(cut.query not in (None, target.query) for cut in readings_where_cut(target)) else None


def _says_more(entry: Entry | ReadOnly, only: Only, request: Request, body: Body) -> BodyWanted | Refused | None:
    """What an entry does not list is not taken by the next one: a looser one may look at nothing."""
    fault = only.fault(request, body)
    if not isinstance(fault, Refused):
        return fault
    place = entry.matcher.place.of(entry.label)
    return replace(fault, why=f"{place}: {fault.why}" if fault.why else place)


def _closed(entry: Closed) -> Refused:
    detail = f"Nothing was forwarded: the policy of upstream {entry.matcher.upstream.name} closes this write."
    advice = "Do not repeat it; a policy has to allow it first."
    return Refused(NO_POLICY, f"{detail} {advice}", why=entry.matcher.place.of(entry.label))


def _afterwards_lacking(matched: Matched, request: Request, caller: Caller) -> BodyWanted | Refused | None:
    """What is lacking of the body once the resource is told: for an error in the call's own words, for budgets, for the
    key, for the pointers by which intents are compared, or for what would take the write back."""
    key, fingerprint, undo = matched.entry.key, matched.entry.fingerprint, matched.entry.compensation
    if undo is not None and undo.wants(matched.body):
        return BodyWanted()
    if matched.entry.rule.errors == "jsonrpc" or matched.entry.has_amounts:
        return matched.body.lacking("json")
    if key is None or not (key.reads or key.reads_query or fingerprint.needs_json):
        return None
    named = key.read(request, matched.path, caller, matched.body)
    if isinstance(named, BodyWanted):
        # For a key in the query its type need not be what another template reads.
        if key.reads is None or (key.reads_query and matched.body.lacking_beside_query() == named):
            return named
        return matched.body.lacking(key.reads)
    return matched.body.lacking("json") if fingerprint.needs_json and isinstance(named, str) else None


def _not_switched() -> Refused:
    detail = "Not forwarded: no rule lets this path switch to another protocol. Send it without Upgrade."
    return Refused(BAD_REQUEST, detail)


def _counted(placed: Iterable[Placed]) -> Mapping[Shape, Iterable[tuple[Pattern, Template]]]:
    """By the paths that they match, how the entries name what is counted there: each way once."""
    ways: defaultdict[Shape, dict[object, tuple[Pattern, Template]]] = defaultdict(dict)
    for pattern, entry in ((one.pattern, one.entry) for one in placed):
        if _counts(entry):
            ways[pattern.shape][(pattern.names, pattern.rest, entry.template)] = (pattern, entry.template)
    return {shape: tuple(distinct.values()) for shape, distinct in ways.items()}


def _counts(entry: AnyEntry) -> TypeGuard[Entry]:
    """Whether the gateway counts this rule's writes of a resource that a read can name too."""
    return isinstance(entry, Entry) and entry.rule.revision == "gateway" and entry.template.reads_only_target


class Mounts:
    """Which upstream a request belongs to: one mounted for its host before one for any, then the longest path."""

    __slots__ = ("_by_host", "_lengths", "_names_hosts")

    def __init__(self, indices: Iterable[Index]) -> None:
        self._by_host: defaultdict[str | None, dict[tuple[str, ...], Index]] = defaultdict(dict)
        for index in indices:
            mount = index.upstream.mount
            self._by_host[mount.host][mount.segments] = index
        self._names_hosts = any(host is not None for host in self._by_host)
        lengths = {len(segments) for mounted in self._by_host.values() for segments in mounted}
        self._lengths = tuple(sorted(lengths, reverse=True))

    def find(self, request: Request) -> Index | Refused:
        segments = request.target.segments
        for host in (_named_host(request), None) if self._names_hosts else (None,):
            mounted = self._by_host.get(host, {})
            for length in self._lengths:
                index = mounted.get(segments[:length])
                if index is not None:
                    return index
        detail = "Nothing was forwarded: no upstream is mounted at this path."
        return Refused(NO_UPSTREAM, f"{detail} Do not repeat it; correct the URL.")


def _named_host(request: Request) -> str | None:
    value = request.headers.first(b"host")
    return host_name(value) if value else None


def lies_below(mount: Mount, other: Mount) -> bool:
    """Whether `mount` takes a part of what `other` would take, whatever the case and the marks: at one host, if it
    names one."""
    above = len(other.segments)
    is_deeper = other.host in (None, mount.host) and len(mount.segments) > above
    return is_deeper and lenient_segments(mount.segments[:above]) == lenient_segments(other.segments)
