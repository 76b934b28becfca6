"""What a pause is to stop, as operators name it. A slip in a name would stop nothing, and look as if it had.

A holder is the one name that cannot be checked: whoever is named may come with the next lease.
"""

from collections.abc import Iterable, Mapping

from gateway.admin.document import Document
from gateway.admin.name import check_name
from gateway.admin.running import Running
from gateway.core.caller import parse_holder
from gateway.core.decision import BAD_REQUEST, Refused
from gateway.core.pause import Scope
from gateway.core.write import ResourceKey
from gateway.policy.ruleset import RuleSet

SELECTORS = frozenset({"upstream", "rule", "resource", "tenant", "holder", "all"})

Selected = ResourceKey | Scope


def read_selector(document: Document) -> Selected | Refused:
    """The one selector of a document; a rule may be named within its upstream."""
    named = document.keys() & SELECTORS
    if named == {"upstream", "rule"}:
        named = {"rule"}
    if len(named) != 1:
        listed = ", ".join(f"`{name}`" for name in sorted(SELECTORS))
        detail = f'Nothing was done: name one of {listed}, as in {{"upstream": "mail", "reason": "sent twice"}}'
        return Refused(BAD_REQUEST, f"{detail}; only `upstream` and `rule` go together.")
    if named == {"all"}:
        return Scope("all") if document["all"] is True else _malformed("all", "true, without quotes")
    texts: dict[str, str] = {}
    for name in SELECTORS & document.keys():
        value = document[name]
        if not isinstance(value, str) or not value:
            return _malformed(name, "a text")
        texts[name] = value
    return _selected(texts)


async def check_selector(running: Running, selected: Selected) -> Refused | None:
    """Refuse the name of what is not there."""
    if isinstance(selected, str):
        return await check_name(running, selected)
    rules, name = running.rules(), selected.name
    match selected.kind:
        case "upstream":
            return _check("upstream", name, (upstream.name for upstream in rules.upstreams))
        case "rule":
            return _check_rule(rules, selected)
        case "tenant":
            return _check("tenant", name, rules.principals.tenants())
        case "holder" | "all":
            return None


def _selected(named: Mapping[str, str]) -> Selected | Refused:
    match named:
        case {"resource": resource}:
            return ResourceKey(resource)
        case {"rule": rule}:
            return Scope("rule", rule, named.get("upstream"))
        case {"upstream": upstream}:
            return Scope("upstream", upstream)
        case {"tenant": tenant}:
            return Scope("tenant", tenant)
        case _:
            holder = parse_holder(named["holder"])
            return _malformed("holder", "a name as leases have it") if holder is None else Scope("holder", holder)


def _check_rule(rules: RuleSet, scope: Scope) -> Refused | None:
    if scope.upstream is not None:
        unknown = _check("upstream", scope.upstream, (upstream.name for upstream in rules.upstreams))
        if unknown is not None:
            return unknown
    known = (entry.rule.name for entry in rules.entries if scope.upstream in (None, entry.rule.upstream.name))
    return _check("rule" if scope.upstream is None else f"rule of upstream {scope.upstream}", scope.name, known)


def _check(what: str, name: str, known: Iterable[str]) -> Refused | None:
    names = sorted(set(known))
    if name in names:
        return None
    there = ", ".join(f"`{each}`" for each in names) or "none"
    detail = f"Nothing was done: no {what} is called {name!r}; there is {there}."
    return Refused(BAD_REQUEST, f'{detail} {{"all": true}} stops everything.')


def _malformed(name: str, what: str) -> Refused:
    return Refused(BAD_REQUEST, f"Nothing was done: `{name}` must be {what}.")
