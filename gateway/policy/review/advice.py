"""What is allowed in policies and most likely not meant: told by `fencegate check`, and no reason to refuse them."""

from collections.abc import Iterator

from gateway.policy.entry import Entry
from gateway.policy.finding import Finding
from gateway.policy.part import Part
from gateway.policy.query import Query
from gateway.policy.ruleset import RuleSet


def advice(rules: RuleSet) -> tuple[Finding, ...]:
    """A warning for each upstream that is sent writes later and has no credentials of its own, for each that is asked
    about intents in a way that may find another's, or none, and for each rule that only budgets of holders bound.
    """
    first: dict[str, Entry] = {}
    for entry in rules.entries:
        upstream = entry.rule.upstream
        if entry.rule.parks is not None and not upstream.credentials:
            first.setdefault(upstream.name, entry)
    unbound = (_bounds_nobody(entry) for entry in rules.entries if _names_its_own_budget(entry))
    return (*map(_without_credentials, first.values()), *_queries(rules), *unbound)


def _names_its_own_budget(entry: Entry) -> bool:
    """A holder is named by who asks for the lease, or sends the epoch; in a signed claim by its issuer."""
    rule = entry.rule
    return rule.authority != "signed" and bool(rule.budgets) and all(budget.per == "holder" for budget in rule.budgets)


def _queries(rules: RuleSet) -> Iterator[Finding]:
    told: set[str] = set()
    for entry in rules.entries:
        upstream = entry.rule.upstream
        query = rules.query_of(upstream.name)
        if query is None or entry.rule.intent.on_unknown != "query" or upstream.name in told:
            continue
        if "intent.upstream_key" in query.subjects and upstream.native_key is None:
            told.add(upstream.name)
            yield _never_heard(entry)
        elif not _asks_for_one(query, entry, rules):
            told.add(upstream.name)
            yield _ambiguous(entry)


def _asks_for_one(query: Query, entry: Entry, rules: RuleSet) -> bool:
    """Whether what the query names is one intent of the rule, and not also another resource's or tenant's."""
    if query.names_one:
        return True
    parts = [piece for piece in entry.template.pieces if isinstance(piece, Part)]
    names_resource = "intent.resource" in query.subjects or not parts
    names_tenant = len(rules.principals.tenants()) == 1 or any(part.origin == "tenant" for part in parts)
    return "intent.key" in query.subjects and names_resource and names_tenant


def _never_heard(entry: Entry) -> Finding:
    return _warning(
        entry,
        f"asks by `{{intent.upstream_key}}`, which upstream `{entry.rule.upstream.name}` never hears: it would know of "
        "no write; name the header that carries it in `capabilities: {idempotency_key: HEADER}`",
    )


def _ambiguous(entry: Entry) -> Finding:
    return _warning(
        entry,
        "asks by what is not one intent's alone: a key belongs to its tenant, resource and target, and another's write "
        "of the same key would answer for this one; ask by `{intent.upstream_key}`, which the header of "
        "`capabilities.idempotency_key` tells the upstream, or name `{intent.resource}` beside the key",
    )


def _bounds_nobody(entry: Entry) -> Finding:
    return _warning(
        entry,
        "has budgets `per: holder` only, and a holder's name is the agent's own word: under another it has another "
        "budget; write one per `principal` (with `principals.yaml`), `resource` or `tenant` too",
    )


def _without_credentials(entry: Entry) -> Finding:
    return _warning(
        entry,
        "sends later, and what agents send in Authorization, Cookie and the like is not kept; if upstream "
        f"`{entry.rule.upstream.name}` wants any of it, give it `credentials`",
    )


def _warning(entry: Entry, why: str) -> Finding:
    place = entry.matcher.place
    return Finding(place.file, place.line, place.column, f"rule `{entry.rule.name}` {why}", "warning")
