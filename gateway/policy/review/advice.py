"""What is allowed in policies and most likely not meant: told by `fencegate check`, and no reason to refuse them."""

from gateway.policy.finding import Finding
from gateway.policy.review.advised.beside_closed import open_beside_closed
from gateway.policy.review.advised.budgets import unbound_holders
from gateway.policy.review.advised.credentials import without_credentials
from gateway.policy.review.advised.hosts import any_host
from gateway.policy.review.advised.keys import dropped_keys, keys_forgotten_early
from gateway.policy.review.advised.members import members_apart
from gateway.policy.review.advised.one_server import one_server
from gateway.policy.review.advised.open_values import open_values
from gateway.policy.review.advised.outcomes import proved_by_default, proved_too_much
from gateway.policy.review.advised.queries import doubtful_queries
from gateway.policy.review.advised.spellings import loose_spellings
from gateway.policy.review.advised.tenants import apart_by_caller
from gateway.policy.review.advised.two_ends import other_ends, other_items
from gateway.policy.review.advised.two_kinds import two_kinds
from gateway.policy.review.advised.unlisted import unlisted_reads
from gateway.policy.review.advised.unsent import unsent_bodies
from gateway.policy.ruleset import RuleSet

_EVERY = (
    without_credentials,
    doubtful_queries,
    unbound_holders,
    proved_too_much,
    proved_by_default,
    dropped_keys,
    keys_forgotten_early,
    apart_by_caller,
    loose_spellings,
    any_host,
    open_beside_closed,
    other_ends,
    other_items,
    members_apart,
    one_server,
    unlisted_reads,
    open_values,
    unsent_bodies,
    two_kinds,
)


def advice(rules: RuleSet) -> tuple[Finding, ...]:
    """Every warning, in the order of the files."""
    found = (finding for one in _EVERY for finding in one(rules))
    return tuple(sorted(found, key=lambda finding: (finding.file, finding.line, finding.column)))
