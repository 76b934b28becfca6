"""The agents' own calls under `/-/fence/`: leases, epochs that were granted elsewhere, and what became of intents."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass

from gateway.core import problem
from gateway.core.caller import Caller, Control, parse_holder, parse_idempotency_key, read_control
from gateway.core.claim import ClaimProof
from gateway.core.decision import (
    BAD_REQUEST,
    BODY_TOO_LARGE,
    FORBIDDEN,
    GRANTED,
    HEADER_MALFORMED,
    METHOD_NOT_ALLOWED,
    NO_LEASE,
    NO_SUCH_RESOURCE,
    NOT_FOUND,
    REGISTERED,
    RELEASED,
    RENEWED,
    SHOWN,
    Decision,
    Facts,
    Refused,
)
from gateway.core.epoch import Epoch
from gateway.core.faults import BodyTooLarge, PoliciesChanged
from gateway.core.identify import read_proof
from gateway.core.lease import TTL_RANGE_S, Lease
from gateway.core.request import Request
from gateway.core.rule import Authority, Rule
from gateway.core.token import BareProof, LeaseProof
from gateway.core.websocket import asks_for_upgrade
from gateway.core.write import ResourceKey
from gateway.flow.gate import Ended
from gateway.flow.lease import Ask, Foreign, Leases
from gateway.flow.marks import Marks
from gateway.flow.ports import BodySource, Claims
from gateway.flow.proving import prove
from gateway.policy.reading.jsonbody import JsonValue, Number, read_json
from gateway.policy.ruleset import RuleSet
from gateway.proxy.intent_api import Records, show_intent
from gateway.proxy.reply import Reply

_BODY_LIMIT = 64 << 10
# A call is held at most this long: proxies and client libraries in between give up after a minute.
_LONGEST_WAIT_S = 55.0

_JSON = b"application/json"


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call: what it says, and whom to answer."""

    request: Request
    control: Control
    members: dict[str, JsonValue]
    caller: Caller
    reply: Reply


class AgentApi:
    """Answers the calls. What they mean is the flow's and the store's to say."""

    def __init__(self, policies: Callable[[], RuleSet], leases: Leases, records: Records, claims: Claims) -> None:
        self._policies = policies
        self._claims = claims
        self._leases = leases
        self._records = records

    async def handle(self, request: Request, body: BodySource, caller: Caller, reply: Reply) -> Ended:
        refused: Ended | Refused
        try:
            refused = await self._judge(request, body, caller, reply)
        except BodyTooLarge as error:
            refused = Refused(BODY_TOO_LARGE, f"Nothing was done: {error}.")
        if isinstance(refused, Refused):
            reply.refuse(refused)
            return Ended(refused, resource=refused.facts.resource)
        return refused

    async def _judge(self, request: Request, body: BodySource, caller: Caller, reply: Reply) -> Ended | Refused:
        """By the policies in force: a caller whose call had to wait may have lost its rights meanwhile."""
        who: Caller | Refused = caller
        while not isinstance(who, Refused):
            with contextlib.suppress(PoliciesChanged):
                return await self._route(request, body, who, reply)
            who = self._policies().principals.identify(request.headers)
        return who

    async def _route(self, request: Request, body: BodySource, caller: Caller, reply: Reply) -> Ended | Refused:
        if asks_for_upgrade(request.headers):
            return Refused(BAD_REQUEST, "Nothing was done: no protocol is switched to here. Send it without Upgrade.")
        control, unknown = read_control(request.headers), self._policies().refused
        if isinstance(control, Refused):
            return control
        if unknown is not None:
            return unknown
        name = "/".join(request.target.segments[2:])
        if (request.method, name) == ("GET", "leases"):
            return await self._lookup(request, caller, reply)
        if request.method == "GET" and name.startswith("intents/"):
            id = name.removeprefix("intents/")
            return await show_intent(self._records, self._policies, id, caller, reply)
        calls = {
            "leases": self._grant,
            "leases/renew": self._renew,
            "leases/release": self._release,
            "epochs": self._register,
        }
        call = calls.get(name)
        if call is None:
            calls_there_are = "leases, leases/renew, leases/release, epochs, intents/ID"
            return Refused(NOT_FOUND, f"There is no call /-/fence/{name}. There are: {calls_there_are}.")
        if request.method != "POST":
            return Refused(METHOD_NOT_ALLOWED, f"/-/fence/{name} takes POST.")
        reply.proceed()
        rules = self._policies()
        members = read_json(await body.hold(_BODY_LIMIT))
        if self._policies() is not rules:
            raise PoliciesChanged
        if isinstance(members, Refused):
            return Refused(BAD_REQUEST, members.detail)
        if not isinstance(members, dict):
            return Refused(BAD_REQUEST, 'Nothing was done: send a JSON object, such as {"resource": "report/7"}.')
        return await call(_Asked(request, control, members, caller, reply))

    async def _lookup(self, request: Request, caller: Caller, reply: Reply) -> Ended | Refused:
        names = request.target.query_values("resource")
        if len(names) != 1 or not names[0]:
            return Refused(BAD_REQUEST, "Name one resource: /-/fence/leases?resource=R.")
        if not _is_text(names[0]):
            return Refused(BAD_REQUEST, "Name a resource in UTF-8, percent-encoded: this is no text.")
        rules, found = self._policies(), self._rule(names[0], caller, "lease")
        if isinstance(found, Refused):
            return found
        resource = ResourceKey(names[0])
        lease = await self._leases.lookup(resource)
        if self._policies() is not rules:
            raise PoliciesChanged
        if isinstance(lease, Refused):
            return lease
        if lease is None:
            return Refused(NO_LEASE, "Nobody holds a lease of this resource.", Facts(resource=resource))
        return _answer(reply, SHOWN, _lease_members(lease), lease)

    async def _grant(self, asked: _Asked) -> Ended | Refused:
        ask = self._read_ask(asked)
        if isinstance(ask, Refused):
            return ask
        granted = await self._leases.grant(ask, asked.reply.has_left)
        if isinstance(granted, Refused):
            return granted
        members = _lease_members(granted.lease, token=granted.token)
        ended = _answer(asked.reply, GRANTED, members, granted.lease)
        if asked.reply.is_gone() and ask.key is None:
            self._leases.release_unseen(granted, ask.quota)
        return ended

    async def _renew(self, asked: _Asked) -> Ended | Refused:
        shown = self._read_lease_proof(asked)
        if isinstance(shown, Refused):
            return shown
        resource, proof = shown
        quota = asked.caller.rights.quota
        lease = await self._leases.renew(resource, proof.epoch, proof.secret_digest, quota)
        return lease if isinstance(lease, Refused) else _answer(asked.reply, RENEWED, _lease_members(lease), lease)

    async def _release(self, asked: _Asked) -> Ended | Refused:
        shown = self._read_lease_proof(asked)
        if isinstance(shown, Refused):
            return shown
        resource, proof = shown
        quota = asked.caller.rights.quota
        lease = await self._leases.release(resource, proof.epoch, proof.secret_digest, quota)
        return lease if isinstance(lease, Refused) else _answer(asked.reply, RELEASED, None, lease)

    async def _register(self, asked: _Asked) -> Ended | Refused:
        unknown = _unknown_members(asked.members, {"resource", "target", "wait_s"})
        if unknown is not None:
            return unknown
        found = self._resource(asked, "header", "signed")
        if isinstance(found, Refused):
            return found
        resource, rule = found
        proof = await self._granted_elsewhere(asked.control, rule, resource)
        if isinstance(proof, Refused):
            return proof
        epoch, holder = proof
        wait_s = _seconds(asked.members, "wait_s", 0.0, _LONGEST_WAIT_S)
        if isinstance(wait_s, Refused):
            return wait_s
        if rule.upstream.term.is_over:
            # While its claim's keys were fetched the caller may have lost its rights.
            raise PoliciesChanged
        exceeded = await self._leases.spend_resource(asked.caller.rights.quota, resource)
        if exceeded is not None:
            return exceeded
        foreign = Foreign(resource, epoch, holder, wait_s, rule.upstream.term)
        in_flight = await self._leases.register(foreign, asked.reply.has_left)
        if isinstance(in_flight, Refused):
            return in_flight
        members: dict[str, object] = {"resource": resource, "epoch": str(epoch)}
        members |= {"drained": in_flight == 0, "in_flight": in_flight}
        asked.reply.own(REGISTERED, _JSON, json.dumps(members).encode())
        return Ended(Marks(REGISTERED), resource=resource, epoch=epoch, holder=holder)

    async def _granted_elsewhere(
        self, control: Control, rule: Rule, resource: ResourceKey
    ) -> tuple[Epoch, str] | Refused:
        """The epoch of another system's grant, and its holder."""
        claim = await prove(self._claims, rule, resource, control)
        proof = claim or read_proof(control, rule.token_from, rule.authority, resource)
        if isinstance(proof, Refused):
            return proof
        if isinstance(proof, ClaimProof):
            return proof.epoch, proof.holder
        assert isinstance(proof, BareProof) and control.holder is not None
        return proof.epoch, control.holder

    def _read_ask(self, asked: _Asked) -> Ask | Refused:
        members = asked.members
        unknown = _unknown_members(members, {"resource", "target", "holder", "ttl_s", "wait_s", "takeover"})
        if unknown is not None:
            return unknown
        found = self._resource(asked, "lease")
        if isinstance(found, Refused):
            return found
        holder = members.get("holder")
        if not isinstance(holder, str) or parse_holder(holder) is None:
            return Refused(BAD_REQUEST, "Nothing was done: `holder` must be 1 to 255 printable characters.")
        ttl_s = _seconds(members, "ttl_s", None, TTL_RANGE_S[1], TTL_RANGE_S[0])
        if isinstance(ttl_s, Refused):
            return ttl_s
        wait_s = _seconds(members, "wait_s", 0.0, _LONGEST_WAIT_S)
        if isinstance(wait_s, Refused):
            return wait_s
        takeover = members.get("takeover", False)
        if not isinstance(takeover, bool):
            return Refused(BAD_REQUEST, "Nothing was done: `takeover` must be true or false.")
        if takeover and not asked.caller.rights.takeover:
            detail = f"Nothing was done: principal {asked.caller.principal} may not take leases over."
            return Refused(FORBIDDEN, f"{detail} Wait for the lease to end.", Facts(resource=found[0]))
        value = asked.request.headers.first(b"idempotency-key")
        key = None if value is None else parse_idempotency_key(value)
        if value is not None and key is None:
            return Refused(HEADER_MALFORMED, "Nothing was done: Idempotency-Key must be 1 to 255 visible characters.")
        return Ask(
            found[0],
            holder,
            round(ttl_s * 1000),
            wait_s,
            takeover,
            key,
            asked.caller.tenant,
            asked.caller.principal,
            asked.caller.rights.quota,
            found[1].upstream.term,
        )

    def _read_lease_proof(self, asked: _Asked) -> tuple[ResourceKey, LeaseProof] | Refused:
        unknown = _unknown_members(asked.members, {"resource", "target"})
        if unknown is not None:
            return unknown
        found = self._resource(asked, "lease")
        if isinstance(found, Refused):
            return found
        resource, rule = found
        proof = read_proof(asked.control, rule.token_from, "lease", resource)
        if isinstance(proof, Refused):
            return proof
        assert isinstance(proof, LeaseProof)
        return resource, proof

    def _resource(self, asked: _Asked, *authorities: Authority) -> tuple[ResourceKey, Rule] | Refused:
        """The resource a call names, or that the rules find for its target."""
        resource, target = asked.members.get("resource"), asked.members.get("target")
        if (resource is None) == (target is None):
            return Refused(BAD_REQUEST, "Nothing was done: name either `resource` or `target`.")
        if isinstance(target, str):
            method, _, path = target.partition(" ")
            host = asked.request.headers.first(b"host") or b""
            resolved = self._policies().resolve_target(method, path, asked.caller, host.decode("latin-1"))
            if isinstance(resolved, Refused):
                return resolved
            resource, rule = resolved
            forbidden = asked.caller.forbidden(resource)
            if forbidden is not None:
                return forbidden
            return (ResourceKey(resource), rule) if rule.authority in authorities else _no_such(resource, authorities)
        if not isinstance(resource, str) or not resource:
            return Refused(BAD_REQUEST, "Nothing was done: `resource` and `target` are texts.")
        found = self._rule(resource, asked.caller, *authorities)
        return found if isinstance(found, Refused) else (ResourceKey(resource), found)

    def _rule(self, resource: str, caller: Caller, *authorities: Authority) -> Rule | Refused:
        """The rule that makes this resource for the caller. What is another's is not told to be there or not."""
        forbidden = caller.forbidden(resource)
        if forbidden is not None:
            return forbidden
        rules = self._policies()
        if rules.is_of_others(resource, caller):
            detail = f"Nothing was done: this resource is another tenant's or principal's than {caller.principal}'s."
            return Refused(FORBIDDEN, f"{detail} Stop.", Facts(resource=resource))
        rule = rules.rule_for_resource(resource, caller)
        return rule if rule is not None and rule.authority in authorities else _no_such(resource, authorities)


def _is_text(value: str) -> bool:
    """Whether a query's value was UTF-8: bytes that are not are kept as lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_such(resource: str, authorities: tuple[Authority, ...]) -> Refused:
    named = " or ".join(f"`authority: {authority}`" for authority in authorities)
    detail = f"Nothing was done: no rule with {named} can produce this resource. Check its spelling."
    return Refused(NO_SUCH_RESOURCE, detail, Facts(resource=resource))


def _unknown_members(members: dict[str, JsonValue], known: set[str]) -> Refused | None:
    unknown = sorted(set(members) - known)
    if not unknown:
        return None
    return Refused(
        BAD_REQUEST, f"Nothing was done: {', '.join(unknown)} is not known here. Known: {', '.join(sorted(known))}."
    )


def _seconds(
    members: dict[str, JsonValue], name: str, default: float | None, most: float, least: float = 0.0
) -> float | Refused:
    value = members.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, Number) and least <= float(value.spelled) <= most:
        return float(value.spelled)
    return Refused(BAD_REQUEST, f"Nothing was done: `{name}` must be a number of seconds from {least:g} to {most:g}.")


def _lease_members(lease: Lease, *, token: str | None = None) -> dict[str, object]:
    members: dict[str, object] = {"resource": lease.resource, "holder": lease.holder, "epoch": str(lease.epoch)}
    if token is not None:
        members["token"] = token
    return members | {
        "ttl_s": lease.ttl_ms / 1000,
        "expires_at": problem.instant(lease.expires_at_ms),
        "renew_after_s": lease.renew_after_ms / 1000,
        "drained": lease.drained,
        "in_flight": lease.in_flight,
    }


def _answer(reply: Reply, decision: Decision, members: dict[str, object] | None, lease: Lease) -> Ended:
    body = b"" if members is None else json.dumps(members, ensure_ascii=False).encode()
    reply.own(decision, _JSON, body)
    left = None if lease.left_ms is None else lease.left_ms / lease.ttl_ms
    return Ended(Marks(decision), resource=lease.resource, epoch=lease.epoch, holder=lease.holder, lease_left=left)
