"""What passes without a token on a condition, whatever else it says."""

from collections.abc import Iterable, Iterator

from gateway.policy.compile.message import IS_ANSWER
from gateway.policy.condition import FormCondition, GraphqlCondition, JsonCondition, QueryCondition
from gateway.policy.entry import ReadOnly
from gateway.policy.finding import Finding
from gateway.policy.pattern import READ_METHODS
from gateway.policy.review.advised.warning import warning
from gateway.policy.ruleset import RuleSet

# Safe by what they are (RFC 9110, section 9.2.1, and IANA's registry), whatever a request says.
_SAFE = READ_METHODS | {"PROPFIND", "QUERY", "REPORT", "SEARCH"}


def unlisted_reads(rules: RuleSet) -> Iterator[Finding]:
    """An entry of `read_only` that is told from a write by a condition, and lists nothing of what a request may say.

    Of GraphQL every field is looked at, and a call of MCP names its tool in one place. An answer does not say what it
    answers: MCP's SDK for Python takes a `decline` that has a message in it for that message, where it asked for one.
    """
    for entry in rules.read_only:
        if _is_told_by_condition(entry) and not _lists(entry):
            yield warning(
                entry,
                f"passes without a token by {' and '.join(map(str, entry.matcher.conditions))} alone: what else a "
                "request says is looked at by nobody, and to some servers makes a write of it; list all that clients "
                f"send there, beginning with `only: {_least(entry)}`",
            )


def _is_told_by_condition(entry: ReadOnly) -> bool:
    matcher = entry.matcher
    if not matcher.conditions:
        return False
    if matcher.upstream.protocol == "mcp":
        return IS_ANSWER in matcher.conditions and len(matcher.conditions) > 1
    acts = any(not _SAFE.issuperset(pattern.methods) for pattern in matcher.patterns)
    return acts and not any(isinstance(one, GraphqlCondition) for one in matcher.conditions)


def _lists(entry: ReadOnly) -> bool:
    """Of headers alone that says nothing of the rest."""
    return entry.only is not None and (entry.only.query is not None or entry.only.lists_body)


def _least(entry: ReadOnly) -> str:
    """The lists that have what the conditions look at."""
    conditions = entry.matcher.conditions
    if IS_ANSWER in conditions:
        said = [one.pointer.text for one in conditions if isinstance(one, JsonCondition) and one is not IS_ANSWER]
        return f"{{json: {_written(['/jsonrpc', '/id', *said])}}}"
    pointers = [one.pointer.text for one in conditions if isinstance(one, JsonCondition)]
    fields = [one.name for one in conditions if isinstance(one, FormCondition)]
    query = _written([one.name for one in conditions if isinstance(one, QueryCondition)])
    return (
        f"{{query: {query}, form: {_written(fields)}}}" if fields else f"{{query: {query}, json: {_written(pointers)}}}"
    )


def _written(names: Iterable[str]) -> str:
    return f"[{', '.join(names)}]"
