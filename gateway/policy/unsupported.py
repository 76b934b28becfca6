"""What the grammar has and this version does not do. Refused wherever ignoring it would change a write."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.policy import schema
from gateway.policy.source import Path


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A field with a value that is not supported."""

    path: Path
    message: str


def unsupported_in_policy(policy: schema.Policy) -> Iterator[Unsupported]:
    if policy.notify is not None:
        yield _field(("notify",))


def unsupported_in_rule(rule: schema.Rule) -> Iterator[Unsupported]:
    yield from _choices(rule)
    if rule.effect.compensation is not None:
        yield _field(("effect", "compensation"))
    if rule.budget:
        yield _field(("budget",))


def unsupported_in_principal(principal: schema.Principal) -> Iterator[Unsupported]:
    if principal.approve:
        yield _field(("approve",))


def _choices(rule: schema.Rule) -> Iterator[Unsupported]:
    chosen: tuple[tuple[Path, str, str], ...] = (
        (("delivery",), rule.delivery, "inline"),
        (("approval",), rule.approval, "none"),
        (("on_stale",), rule.on_stale, "reject"),
        (("fence", "after_unknown"), rule.fence.after_unknown, "continue"),
    )
    for path, value, supported in chosen:
        if value != supported:
            name = ".".join(map(str, path))
            yield Unsupported(
                path, f"`{name}: {value}` is not supported by this version; remove it or write `{supported}`"
            )


def _field(path: Path) -> Unsupported:
    return Unsupported(path, f"`{'.'.join(map(str, path))}` is not supported by this version; remove it")
