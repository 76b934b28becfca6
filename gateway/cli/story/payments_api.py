"""The sample payment API: it pays each time it is asked, as many do, and keeps the reference with what it did.

A payment is `{"account", "to", "amount", "reference"}`, a refund `{"account", "amount", "reference"}`, both in whole
cents; `?reference=` finds either. So does `?intent=`, where it came with an `X-Intent` header.
"""

from dataclasses import dataclass, field
from typing import TypeGuard

from aiohttp import web

Document = dict[str, object]


@dataclass
class Payments:
    """What was paid and given back, each in order."""

    payments: dict[str, Document] = field(default_factory=dict)
    refunds: list[Document] = field(default_factory=list)
    by_intent: dict[str, list[Document]] = field(default_factory=dict)

    def note(self, request: web.Request, done: Document) -> None:
        """Remember under which name it was asked for."""
        self.by_intent.setdefault(request.headers.get("X-Intent", ""), []).append(done)

    def pay(self, asked: Document) -> Document:
        payment = {"id": f"pay-{len(self.payments) + 1}", **asked, "refunded": 0, "status": "paid"}
        self.payments[str(payment["id"])] = payment
        return payment

    def refund(self, payment: Document, asked: Document, amount: int) -> Document | None:
        """None for more than is left of the payment."""
        paid, refunded = payment["amount"], payment["refunded"]
        assert isinstance(paid, int)
        assert isinstance(refunded, int)
        if refunded + amount > paid:
            return None
        payment["refunded"] = refunded + amount
        payment["status"] = "refunded" if refunded + amount == paid else "partly refunded"
        refund = {"id": f"re-{len(self.refunds) + 1}", "payment": payment["id"], **asked}
        self.refunds.append(refund)
        return refund


PAYMENTS = web.AppKey("payments", Payments)


async def _pay(request: web.Request) -> web.Response:
    asked = await request.json()
    if not _has(asked, "account", "to", "reference") or _amount(asked) is None:
        return _wrong(422, "a payment has account, to, amount and reference")
    payment = request.app[PAYMENTS].pay(asked)
    request.app[PAYMENTS].note(request, payment)
    return web.json_response(payment, status=201, headers={"Location": f"/payments/{payment['id']}"})


async def _refund(request: web.Request) -> web.Response:
    asked = await request.json()
    amount = _amount(asked)
    if not _has(asked, "account", "reference") or amount is None:
        return _wrong(422, "a refund has account, amount and reference")
    payment = request.app[PAYMENTS].payments.get(request.match_info["id"])
    # The account is what the gateway has fenced: another one's payment is none of its holder's.
    if payment is None or payment["account"] != asked["account"]:
        return _wrong(404, "the account has no such payment")
    refund = request.app[PAYMENTS].refund(payment, asked, amount)
    if refund is None:
        return _wrong(422, "more than was paid")
    request.app[PAYMENTS].note(request, refund)
    return web.json_response(refund, status=201)


async def _read(request: web.Request) -> web.Response:
    payment = request.app[PAYMENTS].payments.get(request.match_info["id"])
    return _wrong(404, "no such payment") if payment is None else web.json_response(payment)


async def _find(request: web.Request) -> web.Response:
    held, reference, intent = request.app[PAYMENTS], request.query.get("reference"), request.query.get("intent")
    every = [*held.payments.values(), *held.refunds] if intent is None else held.by_intent.get(intent, [])
    found = [one for one in every if reference in (None, one["reference"])]
    return web.json_response({"count": len(found), "found": found})


def _has(asked: object, *names: str) -> TypeGuard[Document]:
    return isinstance(asked, dict) and all(isinstance(asked.get(name), str) for name in names)


def _amount(asked: object) -> int | None:
    amount = asked.get("amount") if isinstance(asked, dict) else None
    return amount if isinstance(amount, int) and not isinstance(amount, bool) and amount > 0 else None


def _wrong(status: int, error: str) -> web.Response:
    return web.json_response({"error": error}, status=status)


def add_payments(app: web.Application) -> None:
    """Let the sample upstream pay, too."""
    app[PAYMENTS] = Payments()
    app.router.add_post("/payments", _pay)
    app.router.add_get("/payments", _find)
    app.router.add_get("/payments/{id}", _read)
    app.router.add_post("/payments/{id}/refunds", _refund)
