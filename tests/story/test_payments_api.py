"""The sample payment API, which the story and README rely on."""

from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from gateway.cli.story.payments_api import add_payments

PAYMENT = {"account": "acme", "to": "supplier-3", "amount": 500, "reference": "invoice-17"}
REFUND = {"account": "acme", "amount": 500, "reference": "undo-invoice-17"}


@pytest.fixture
async def api(aiohttp_client: Any) -> TestClient[Any, Any]:
    """With one payment made."""
    app = web.Application()
    add_payments(app)
    client: TestClient[Any, Any] = await aiohttp_client(app)
    assert (await client.post("/payments", json=PAYMENT)).status == 201
    return client


async def test_it_pays_each_time_it_is_asked(api: TestClient[Any, Any]) -> None:
    """That it is asked once is the gateway's work; by the reference it tells how often it was."""
    await api.post("/payments", json=PAYMENT)

    found = await (await api.get("/payments", params={"reference": "invoice-17"})).json()

    assert [one["id"] for one in found["found"]] == ["pay-1", "pay-2"]
    assert found["count"] == 2


async def test_it_tells_by_the_gateways_name_what_was_done_under_it(api: TestClient[Any, Any]) -> None:
    """Another's payment of the same reference is not counted."""
    for name in ("one", "two"):
        await api.post("/payments", json=PAYMENT, headers={"X-Intent": name})
    await api.post("/payments/pay-1/refunds", json=REFUND, headers={"X-Intent": "three"})

    found = [await (await api.get("/payments", params={"intent": name})).json() for name in ("one", "three", "four")]

    assert [one["count"] for one in found] == [1, 1, 0]


@pytest.mark.parametrize(
    ("payment", "said", "status"),
    [
        ("pay-1", {}, 201),
        ("pay-1", {"amount": 501}, 422),
        ("pay-1", {"amount": True}, 422),
        ("pay-1", {"account": "other"}, 404),
        ("pay-2", {}, 404),
    ],
    ids=["all of it", "more than was paid", "no amount", "another account", "no such payment"],
)
async def test_a_refund_is_of_the_accounts_own_payment(
    api: TestClient[Any, Any], payment: str, said: dict[str, object], status: int
) -> None:
    """The gateway has fenced the account that the refund names."""
    answer = await api.post(f"/payments/{payment}/refunds", json={**REFUND, **said})

    assert answer.status == status
    shown = await (await api.get("/payments/pay-1")).json()
    assert shown["status"] == ("refunded" if status == 201 else "paid")


async def test_no_more_is_given_back_than_was_paid(api: TestClient[Any, Any]) -> None:
    """In however many refunds."""
    statuses = [(await api.post("/payments/pay-1/refunds", json={**REFUND, "amount": 300})).status for _ in range(2)]

    assert statuses == [201, 422]
    assert (await (await api.get("/payments/pay-1")).json())["status"] == "partly refunded"


@pytest.mark.parametrize("body", ["[]", "{}", '{"account": "acme", "to": "s", "reference": "r", "amount": 0}'])
async def test_what_is_no_payment_is_refused(api: TestClient[Any, Any], body: str) -> None:
    """And nothing is paid."""
    answer = await api.post("/payments", data=body, headers={"Content-Type": "application/json"})

    assert answer.status == 422
    assert (await (await api.get("/payments")).json())["count"] == 1
