"""Upstreams that are asked about intents in a way that may find another's, or none."""

from collections import defaultdict
from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.part import Part
from gateway.policy.pattern import Shape, placeholder_names
from gateway.policy.producers import Skeleton, skeleton
from gateway.policy.query import Query
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet


def doubtful_queries(rules: RuleSet) -> Iterator[Finding]:
    """Told once for an upstream, at the first rule that asks."""
    told: set[str] = set()
    targets = _Targets(rules)
    for entry in rules.entries:
        upstream = entry.rule.upstream
        query = rules.query_of(upstream.name)
        if query is None or entry.rule.intent.on_unknown != "query" or upstream.name in told:
            continue
        if "intent.upstream_key" in query.subjects and upstream.native_key is None:
            told.add(upstream.name)
            yield _never_heard(entry)
        elif not query.names_one and not (_names_resource(query, entry, rules) and targets.are_one(entry)):
            told.add(upstream.name)
            yield _ambiguous(entry)


def _names_resource(query: Query, entry: Entry, rules: RuleSet) -> bool:
    """Whether what the query names is not also another resource's or tenant's."""
    parts = [piece for piece in entry.template.pieces if isinstance(piece, Part)]
    names_resource = "intent.resource" in query.subjects or not parts
    names_tenant = len(rules.principals.tenants()) == 1 or any(part.origin == "tenant" for part in parts)
    return "intent.key" in query.subjects and names_resource and names_tenant


class _Targets:
    """By upstream and resource the methods and paths of writes with keys: no query can name them."""

    def __init__(self, rules: RuleSet) -> None:
        self._ways: defaultdict[tuple[str, Skeleton], set[tuple[str, Shape]]] = defaultdict(set)
        for entry in rules.entries:
            if entry.key is not None:
                ways = ((method, one.shape) for one in entry.matcher.patterns for method in one.methods)
                self._ways[entry.rule.upstream.name, skeleton(entry.template)].update(ways)

    def are_one(self, entry: Entry) -> bool:
        """Whether a key and a resource of the rule are no other write's, of another method or path."""
        named = {part.name for part in entry.template.parts if part.origin in ("path", "rest")}
        is_whole = all(named.issuperset(placeholder_names(one)) for one in entry.matcher.patterns)
        return is_whole and len(self._ways[entry.rule.upstream.name, skeleton(entry.template)]) == 1


def _never_heard(entry: Entry) -> Finding:
    return warning(
        entry,
        f"asks by `{{intent.upstream_key}}`, which upstream `{entry.rule.upstream.name}` never hears: it would know of "
        "no write; name the header that carries it in `capabilities: {idempotency_key: HEADER}`",
    )


def _ambiguous(entry: Entry) -> Finding:
    return warning(
        entry,
        "asks by what is not one intent's alone: a key belongs to its tenant, resource, method and path, and another's "
        "write of the same key would answer for this one; ask by `{intent.upstream_key}`, which the header of "
        "`capabilities.idempotency_key` tells the upstream, or name `{intent.resource}` beside the key, where "
        "one method and path write it",
    )
