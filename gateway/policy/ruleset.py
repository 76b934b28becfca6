"""All policies in force at one instant, and the questions that are asked of them. Frozen, shared by all requests."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from gateway.core.caller import Caller
from gateway.core.decision import (
    AMBIGUOUS_TARGET,
    BAD_REQUEST,
    NO_POLICY,
    NO_SUCH_RESOURCE,
    NO_UPSTREAM,
    OF_PATHS,
    Refused,
)
from gateway.core.intent import Intent, intent_digest
from gateway.core.request import Headers, Request
from gateway.core.rule import Rule, Upstream
from gateway.core.session import LIFE_S
from gateway.core.target import Ambiguous, read_target
from gateway.core.write import ResourceKey
from gateway.policy.entry import Closed, Entry, Policy, ReadOnly
from gateway.policy.fingerprint import round_of
from gateway.policy.match import Index, Matched, Mounts, NeedsBody, Read, lies_below
from gateway.policy.principals import Principals
from gateway.policy.producers import Producers
from gateway.policy.query import Query
from gateway.policy.reading.body import BodyWanted

_ANYONE = Caller()


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Made by `load_policies`, whole or not at all."""

    upstreams: tuple[Upstream, ...]
    entries: tuple[Entry, ...]
    read_only: tuple[ReadOnly, ...]
    closed: tuple[Closed, ...]
    _mounts: Mounts = field(repr=False, compare=False)
    _producers: Producers = field(repr=False, compare=False)
    _queries: Mapping[str, Query] = field(repr=False)
    principals: Principals = field(default_factory=Principals, repr=False)
    write_lasts_s: float = 0.0
    """From its admission on, at most, of any upstream."""
    refused: Refused | None = None
    """With what writes, agents' calls and all who have to show a key are refused; None while it is known to be in
    force."""

    def refusing(self, refused: Refused) -> "RuleSet":
        """The same set, of which nobody can tell now whether it still is in force. Reads that need no key pass."""
        return replace(self, principals=self.principals.refusing(refused), refused=refused)

    def watched_by(self, look: Callable[[], object]) -> None:
        """`look` is asked before whatever waits under it is told whether it still is in force."""
        for upstream in self.upstreams:
            upstream.term.look = look

    def suspend(self) -> None:
        """Nobody can tell now whether it is in force: what waits under it is judged anew."""
        for upstream in self.upstreams:
            upstream.term.suspend()

    def resume(self) -> None:
        """It is in force, unless it has ended meanwhile."""
        for upstream in self.upstreams:
            upstream.term.resume()

    def end(self) -> None:
        """Another set is in force now. What was judged under this one and still waits is judged anew."""
        for upstream in self.upstreams:
            upstream.term.end()

    def upstream_of(self, request: Request) -> Upstream | Refused:
        """The upstream that a request belongs to by its path and host. Refused: `no-upstream`."""
        index = self._mounts.find(request)
        return index if isinstance(index, Refused) else index.upstream

    def takes_graphql(self, request: Request) -> bool:
        """Whether a request is sent to where some entry reads operations of GraphQL."""
        index = self._mounts.find(request)
        return not isinstance(index, Refused) and index.takes_graphql(request.target)

    def match(self, request: Request, caller: Caller) -> Matched | Read | NeedsBody | Refused:
        """The rule that takes a request, or that it is a read, or why it is neither.

        Refused: `no-upstream`, `reads-denied`, `no-policy` (a write that no rule matches, that the policy closes, or
        that says more than its rule lists: nothing passes unmatched), `ambiguous-target`, and `resource-unresolved`
        where a condition meets text that is not UTF-8; and as `refusing` says.
        """
        index = self._mounts.find(request)
        found = index if isinstance(index, Refused) else index.match(request, caller)
        return found if self.refused is None or isinstance(found, Read | NeedsBody) else self.refused

    def resolve(self, matched: Matched, request: Request, caller: Caller) -> ResourceKey | Refused:
        """The resource that a matched write belongs to. Refused: `resource-unresolved`, `ambiguous-target`."""
        resource = matched.entry.template.fill(request, matched.path, caller, matched.body)
        return resource if isinstance(resource, Refused) else ResourceKey(resource)

    def intent_of(
        self, matched: Matched, request: Request, caller: Caller, resource: ResourceKey
    ) -> Intent | Refused | None:
        """The intent that a matched write names, not yet with its fingerprint; None if it names none. A call of a tool
        that goes on, with what it was asked for, is another one than the call before it: that has run, and its repeat
        would run it from the start.

        Refused: `idempotency-key-required`, `header-malformed`, and as `resolve`.
        """
        if matched.entry.key is None:
            return None
        key = matched.entry.key.read(request, matched.path, caller, matched.body)
        assert not isinstance(key, BodyWanted), "the match asks for the body first"
        if key is None or isinstance(key, Refused):
            return key
        upstream = matched.entry.matcher.upstream
        host = upstream.mount.host
        if host is None and upstream.preserve_host:
            host = _forwarded_host(request)
        round = round_of(matched.body.json) if upstream.protocol == "mcp" else b""
        digest = intent_digest(caller.tenant, resource, request.method, host, request.target, key, round=round)
        return Intent(key, caller.tenant, f"{request.method} {request.target.path}", digest)

    def rule_named(self, upstream: str, name: str) -> Rule | None:
        """The rule of this name; None if it is no longer there. Not for each request: it looks at all of them."""
        every = (entry.rule for entry in self.entries)
        return next((rule for rule in every if rule.name == name and rule.upstream.name == upstream), None)

    def query_of(self, upstream: str) -> Query | None:
        """How the upstream of this name tells what became of an intent; None if it cannot, or is no longer there."""
        return self._queries.get(upstream)

    def rule_for_resource(self, resource: str, caller: Caller | None = _ANYONE) -> Rule | None:
        """A rule that can make this resource for `caller`; all that can have the same authority. None: no rule can.

        Without a caller: for anybody, whatever the tenant.
        """
        entry = self._producers.find(resource, caller)
        return None if entry is None else entry.rule

    def is_of_others(self, resource: str, caller: Caller) -> bool:
        """Whether rules can make this resource, but none of them for `caller`: it names another tenant or principal."""
        return self.rule_for_resource(resource, caller) is None and self.rule_for_resource(resource, None) is not None

    def resolve_target(
        self, method: str, target: str, caller: Caller, host: str | None = None
    ) -> tuple[ResourceKey, Rule] | Refused:
        """The resource that a write `METHOD TARGET` (at `host`, where upstreams are mounted by host) would belong to.

        Refused: `no-such-resource` where no rule takes it or where the rule reads the body, which is not here; and as
        `match` and `resolve`.
        """
        read = read_target(target)
        if isinstance(read, Ambiguous):
            detail = f"No resource was found: {read.why}. Give the target as the write would have it."
            return Refused(AMBIGUOUS_TARGET, detail, OF_PATHS)
        # Nobody needs a lease for a read: at a GET the session is meant that it would begin.
        upgrade = ((b"upgrade", b"websocket"),) if method == "GET" else ()
        named = ((b"host", host.encode("latin-1", "replace")),) if host else ()
        request = Request(method, read, Headers((*upgrade, *named)))
        match self.match(request, caller):
            case (Matched() as matched) | NeedsBody(_, Matched() as matched):
                resource = self.resolve(matched, request, caller)
                return resource if isinstance(resource, Refused) else (resource, matched.entry.rule)
            case Read():
                return _no_resource("this target changes nothing, so that no lease is needed")
            case Refused(decision) if decision is BAD_REQUEST:
                return _no_resource("this target is a read, and no rule lets it begin a session; no lease is needed")
            case NeedsBody():
                return _no_resource("the rule for this target reads the body; name the `resource` instead")
            case Refused(decision) if decision in (NO_POLICY, NO_UPSTREAM):
                return _no_resource("no rule takes this target; name one that a rule allows")
            case Refused() as refused:
                return refused


def build_ruleset(policies: Iterable[Policy], principals: Principals) -> RuleSet:
    """Put compiled policies together. Conflicts between them are `lint.py`'s to find first."""
    every = tuple(policies)
    entries = tuple(entry for policy in every for entry in policy.entries)
    upstreams = tuple(policy.upstream for policy in every)
    return RuleSet(
        upstreams,
        entries,
        tuple(entry for policy in every for entry in policy.read_only),
        tuple(entry for policy in every for entry in policy.closed),
        Mounts(_index(policy, upstreams) for policy in every),
        Producers(entries),
        {policy.upstream.name: policy.query for policy in every if policy.query is not None},
        principals,
        max(map(_write_lasts_s, entries), default=0.0),
    )


def _write_lasts_s(entry: Entry) -> float:
    """A session's ticket is extended as long as it lasts."""
    total_s = entry.rule.upstream.timeouts.total_s
    return total_s if entry.rule.upgrade is None else max(total_s, LIFE_S)


def _index(policy: Policy, upstreams: Iterable[Upstream]) -> Index:
    deeper = [other for other in upstreams if lies_below(other.mount, policy.upstream.mount)]
    return Index(policy.upstream, policy.every_entry, deeper)


def _forwarded_host(request: Request) -> str:
    """Where `Host` is the agent's own, it says which of the upstream's sites acts: the same with or without a port that
    its clients leave out, and a last dot (RFC 3986, section 3.2.2).
    """
    value = request.headers.first(b"host") or b""
    host = value.decode("latin-1").lower()
    name, colon, port = host.rpartition(":")
    if not colon or port.endswith("]"):
        name, port = host, ""
    name, port = name.removesuffix("."), port.lstrip("0")
    return name if port in ("", "80", "443") else f"{name}:{port}"


def _no_resource(why: str) -> Refused:
    return Refused(NO_SUCH_RESOURCE, f"No resource was found: {why}.")
