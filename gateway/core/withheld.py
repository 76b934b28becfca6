"""Which of an agent's fields never reach an upstream as they came: a rule that read one of them would judge by what the
upstream does not see.
"""

from dataclasses import dataclass

from gateway.core.field_name import plain_name
from gateway.core.forwarded import CLAIMS, CLAIMS_PREFIXES, REPLACED
from gateway.core.hop_by_hop import HOP_BY_HOP
from gateway.core.rerouting import REROUTING, REROUTING_PREFIXES
from gateway.core.rule import Upstream

# `Expect` is answered here; `Host` and the framing are set anew.
_NOT_FORWARDED = HOP_BY_HOP | REROUTING | {b"host", b"content-length", b"expect", b"fencegate-key"}
_PREFIXES = (b"fencing-", *REROUTING_PREFIXES)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Names, and beginnings of names, as `plain_name` spells them."""

    names: frozenset[bytes]
    prefixes: tuple[bytes, ...]

    def covers(self, plain: bytes) -> bool:
        return plain in self.names or plain.startswith(self.prefixes)


def withheld(upstream: Upstream, *, believed: bool, observed: bool = False) -> Withheld:
    """What is dropped, or replaced by the gateway's own.

    `believed`: of a request that a trusted proxy sent. `observed`: of a write that is only observed, of which the
    gateway tells the upstream nothing: without its agent's own key and epoch it would have none.
    """
    names = (_NOT_FORWARDED if believed else _NOT_FORWARDED | CLAIMS) | _credentials(upstream)
    if not observed:
        names |= _told_of_writes(upstream)
    if upstream.forwarded != "trusted":
        names |= REPLACED
    return Withheld(names, _PREFIXES if believed else (*_PREFIXES, *CLAIMS_PREFIXES))


def _credentials(upstream: Upstream) -> set[bytes]:
    return {plain_name(name) for name, _ in upstream.credentials}


def _told_of_writes(upstream: Upstream) -> set[bytes]:
    """Fields in which an upstream hears of epochs and intents, and nobody but the gateway."""
    told = set()
    if upstream.epoch_header is not None:
        told.add(plain_name(upstream.epoch_header))
    if upstream.native_key is not None:
        # Never an agent's own word there: it could be the name that another tenant's intent has.
        told.add(plain_name(upstream.native_key.header))
    return told
