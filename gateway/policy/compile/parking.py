"""A rule's `delivery` and `approval`: which writes are not sent while their callers wait, and what that needs."""

from collections.abc import Iterator

from gateway.core.kept_request import is_kept
from gateway.core.rule import Parks
from gateway.policy import schema
from gateway.policy.condition import HeaderCondition
from gateway.policy.entry import Entry
from gateway.policy.report import Report
from gateway.policy.source import Path


def parks(rule: schema.Rule) -> Parks | None:
    """The state in which a write is taken; an approved one is always delivered from the queue: its caller has left."""
    if rule.approval != "none":
        return "awaiting_approval"
    return "queued" if rule.delivery == "queued" else None


def approval_s(rule: schema.Rule) -> float:
    """For how long somebody may approve a write."""
    awaited = rule.approval if isinstance(rule.approval, schema.AwaitedApproval) else schema.AwaitedApproval()
    return awaited.expires


def check_parking(report: Report, path: Path, rule: schema.Rule) -> None:
    """What cannot be promised of a write that is sent later is an error."""
    if parks(rule) is None:
        return
    name = "delivery" if rule.approval == "none" else "approval"
    for at, message in _faults(rule):
        report.add((*path, *at), f"`{name}` {message}")


def check_parked_reads(report: Report, path: Path, entry: Entry) -> None:
    """What is not kept with a write cannot be read once it is judged again, before it is sent."""
    if entry.rule.parks is None:
        return
    upstream = entry.rule.upstream
    for condition in entry.matcher.conditions:
        if isinstance(condition, HeaderCondition) and not is_kept(condition.name.encode("ascii"), upstream):
            report.add((*path, "when", "header", condition.name), _not_kept(condition.name))
    taken_back = () if entry.compensation is None else entry.compensation.parts
    for field, parts in ((("resource",), entry.template.parts), (("effect", "compensation"), taken_back)):
        for part in parts:
            if part.origin == "header" and not is_kept(part.name.encode("ascii"), upstream):
                report.add((*path, *field), _not_kept(part.name))


def _not_kept(name: str) -> str:
    return (
        f"header `{name}` may hold a secret, and is not kept with what is sent later; write a header that says nothing "
        "of who sends it"
    )


def _faults(rule: schema.Rule) -> Iterator[tuple[Path, str]]:
    if rule.intent.mode != "required":
        yield (
            ("intent",),
            "wants a key for every write, by which its sender finds it again; write `intent: {mode: required}`",
        )
    if rule.intent.on_unknown == "retry":
        yield (
            ("intent", "on_unknown"),
            "sends when its queue says so, not when its sender repeats it; write `hold` or `query`",
        )
    if rule.mode == "observe":
        yield ("mode",), "holds a write back, and a rule that observes holds nothing back; write `enforce`"
    if rule.upgrade is not None:
        yield ("upgrade",), "keeps a write for later, and a session is now or never; remove one of them"
    if rule.fence.order == "strict":
        yield (
            ("fence", "order"),
            "takes any number of writes under one epoch, and `strict` allows one; write `monotonic`",
        )
    if rule.fence.sequence != "off":
        yield ("fence", "sequence"), "has an order of its own, that of the queue; write `sequence: 'off'`"
    if rule.revision == "gateway":
        yield ("revision",), "sends a write when what it was based on may have changed; write `revision: 'off'`"
