"""Who approves: a principal that may, by its own key; an operator, where there are no principals."""

from aiohttp import web

from gateway.admin.running import OPERATOR, RUNNING
from gateway.core.caller import Caller
from gateway.core.decision import FORBIDDEN, Facts, Refused
from gateway.core.request import Headers
from gateway.core.rights import EVERYTHING

_KEY = "Fencegate-Key"
# Nobody's principal, and so nobody who made a request.
_OPERATOR = Caller(OPERATOR, rights=EVERYTHING)
# Set where somebody was let in by an approver's key alone, and sees no more than what is to be approved.
_LET_IN: web.RequestKey[Caller] = web.RequestKey("approver", Caller)


def let_in(request: web.Request) -> bool:
    """Let a request in that has no admin token but an approver's key, for what approvers do."""
    if _KEY not in request.headers:
        return False
    approver = find_approver(request)
    if isinstance(approver, Refused) or approver is _OPERATOR:
        return False
    request[_LET_IN] = approver
    return True


def find_approver(request: web.Request) -> Caller | Refused:
    """Who decides by this request. Refused: `unauthenticated`, `forbidden`, `header-malformed`; `policies-unavailable`
    where nobody can tell who may.
    """
    rules = request.app[RUNNING].rules()
    if rules.refused is not None:
        return rules.refused
    principals = rules.principals
    if not principals:
        return _OPERATOR
    caller = principals.identify(Headers(request.raw_headers))
    if isinstance(caller, Refused) or caller.rights.approve:
        return caller
    detail = f"Nothing was done: principal {caller.principal} may not approve. Its entry needs `approve: true`."
    return Refused(FORBIDDEN, detail)


def principal_of(approver: Caller) -> str | None:
    """The principal that an approver is; None for an operator."""
    return None if approver is _OPERATOR else approver.principal


def forbidden(approver: Caller, resource: str, tenant: str) -> Refused | None:
    """The refusal of a decision about what belongs to another tenant, or is not of the resources of its entry."""
    if approver is _OPERATOR:
        return None
    if approver.tenant != tenant:
        detail = f"Nothing was done: principal {approver.principal} is not of this intent's tenant. Ask one that is."
        return Refused(FORBIDDEN, detail)
    if approver.rights.may_approve(resource):
        return None
    detail = (
        f"Nothing was done: principal {approver.principal} may not approve writes of this resource. Its entry needs it "
        "under `approve`, or `approve: true` and it under `resources`."
    )
    return Refused(FORBIDDEN, detail, Facts(resource=resource))


def sees(request: web.Request, state: str, resource: str | None = None, tenant: str = "") -> bool:
    """Whether whoever called may see intents of this state, or one: an approver without the admin token sees what it
    may approve.
    """
    approver = request.get(_LET_IN)
    if approver is None:
        return True
    return state == "awaiting_approval" and (resource is None or forbidden(approver, resource, tenant) is None)


def out_of_sight() -> Refused:
    """The refusal of what an approver asks for and may not see."""
    detail = (
        "Without the admin token an approver sees only what waits for an approval (state=awaiting_approval), of its"
    )
    return Refused(FORBIDDEN, f"{detail} tenant and of the resources of its entry.")
