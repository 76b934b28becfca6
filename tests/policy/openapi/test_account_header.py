"""Headers that may choose whose thing is written."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.account_header import may_choose_account
from gateway.policy.openapi.operation import Header
from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document


@pytest.mark.parametrize(
    ("name", "required", "is_asked"),
    [
        ("X-Tenant-ID", False, True),
        ("OpenAI-Organization", False, True),
        ("Stripe-Account", False, True),
        ("X-Scope-OrgID", False, True),
        ("X-Vault-Namespace", False, True),
        ("On-Behalf-Of", False, True),
        ("X-Request-Tenant", False, True),
        ("X-Shop", True, True),
        ("X-Shop", False, False),
        ("X-Original", False, False),
        ("Origin", True, False),
        ("Idempotency-Key", True, False),
        ("X-Tenant-Idempotency-Key", True, False),
        ("If-Match", True, False),
        ("Content-Type", True, False),
        ("Accept-Language", True, False),
        ("traceparent", True, False),
        ("X-Request-ID", True, False),
        ("X-GitHub-Api-Version", True, False),
        ("X-API-Key", True, False),
        ("Authorization", True, False),
        ("Host", True, False),
        ("X-Ténant", True, False),
        ("X-HTTP-Method-Override", True, False),
    ],
)
def test_which_headers_may_choose_an_account(name: str, required: bool, is_asked: bool) -> None:
    """Those that are called so, and those that every request has to have but for what says how it is made."""
    assert may_choose_account(Header(name, required)) is is_asked


def headed(name: str, *, required: bool = False) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": "header", "required": required}]}


def asked(directory: Path, paths: Any) -> list[str]:
    told = policy_text(document(directory, paths), "a.json", "up").open
    return [line for line in told if line.startswith("does the header")]


def test_each_header_is_one_question(tmp_path: Path) -> None:
    """It names the operations, and the resource of the first with the header in it."""
    paths = {
        "/pay": {"post": headed("X-Tenant-ID")},
        "/docs/{id}": {"put": headed("x-tenant-id"), "delete": headed("X-Shop", required=True)},
    }

    tenant, shop = asked(tmp_path, paths)

    assert "`X-Tenant-ID` choose what is written: POST /pay, PUT /docs/{id}?" in tenant
    assert "(`up/{header.x-tenant-id}/pay`)" in tenant
    assert "(`up/{header.x-shop}/docs/{path.id}`)" in shop


def test_what_is_closed_or_a_likely_read_is_not_asked_about(tmp_path: Path) -> None:
    """Nothing is written by it."""
    assert not asked(tmp_path, {"/batch": {"post": headed("X-Tenant")}, "/search": {"post": headed("X-Tenant")}})
