"""Whether the right stands by which something began that lasts: a session, an answer that goes on and on.

Its caller has shown its key and its proof once. Asked is what a request with the same header fields would be told by
the principals and the keys in force now, before it came to the fence. The rule that took it is not asked again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from gateway.core.caller import read_control
from gateway.core.decision import UNAUTHENTICATED, Facts, Refused
from gateway.core.request import Headers
from gateway.core.rule import Rule
from gateway.core.write import Write
from gateway.flow.ports import Claims
from gateway.flow.proving import prove
from gateway.policy.ruleset import RuleSet

# Keys that are slow in coming leave the last ones in force, as a source does that is away: a session's ticket lives for
# five seconds, and must not end because of them.
_KEYS_WITHIN_S = 1.0


class Standing:
    """Looks anew, by the policies in force."""

    def __init__(self, policies: Callable[[], RuleSet], claims: Claims) -> None:
        self._policies = policies
        self._claims = claims

    def is_known(self, headers: Headers) -> bool:
        """Whether the key that was shown is still somebody's."""
        return self.unknown(headers) is None

    def unknown(self, headers: Headers) -> Refused | None:
        """With what whoever shows the key is refused by now; None while it is somebody's."""
        caller = self._policies().principals.identify(headers)
        return caller if isinstance(caller, Refused) else None

    async def lost(self, write: Write, headers: Headers) -> Refused | None:
        """Why its caller may not write it any more: `unauthenticated`, `forbidden`, `token-invalid`, or
        `keys-unavailable` where no key at all is trusted, and `policies-unavailable`; None while it may."""
        return self.barred(write, headers) or await self._disproved(self._policies(), write, headers)

    def barred(self, write: Write, headers: Headers) -> Refused | None:
        """As `lost`, by the policies and principals alone, whatever its claim is worth by now."""
        rules = self._policies()
        if rules.refused is not None:
            return rules.refused
        caller = rules.principals.identify(headers)
        if isinstance(caller, Refused):
            return caller
        if (caller.principal, caller.tenant) != (write.principal, write.tenant):
            # A principal is its name: the key is another's now.
            detail = f"Nothing was done: principal {write.principal} has this key no longer. Begin anew."
            return Refused(UNAUTHENTICATED, detail, Facts(resource=write.resource))
        return caller.forbidden(write.resource)

    async def _disproved(self, rules: RuleSet, write: Write, headers: Headers) -> Refused | None:
        """With what the signed claim is refused by now under which the write was admitted."""
        if write.rule.signed is None:
            return None
        control = read_control(headers)
        assert not isinstance(control, Refused), "the write was judged by it"
        try:
            async with asyncio.timeout(_KEYS_WITHIN_S):
                proved = await prove(self._claims, _in_force(rules, write.rule), write.resource, control)
        except TimeoutError:
            return None
        return proved if isinstance(proved, Refused) else None


def _in_force(rules: RuleSet, rule: Rule) -> Rule:
    """The rule with the keys that the policies trust now: a source that was replaced is not asked any more."""
    if not rule.upstream.term.is_over:
        return rule
    successor = rules.rule_named(rule.upstream.name, rule.name)
    return rule if successor is None or successor.signed is None else replace(rule, signed=successor.signed)
