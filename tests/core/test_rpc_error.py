"""Refusals as JSON-RPC errors: the codes, and what an error carries."""

import json

import pytest

from gateway.core import problem, rpc_error
from gateway.core.decision import DECISIONS, STALE_EPOCH, Facts, Refused
from tests.pages import README, rows


def test_every_code_is_of_the_range_that_mcp_leaves_to_implementations() -> None:
    """Those that clients make up themselves, that are retired, or that drafts gave away, are left out."""
    assert set(rpc_error.CODES.values()) == set(range(-32019, -32004))


def test_the_codes_that_readme_tells_are_those_that_are_sent() -> None:
    """Agents are written by this table."""
    told = {name.strip("` "): int(code) for code, names in rows(README, "code") for name in names.split(",")}

    assert told == {name: code for name, code in rpc_error.CODES.items() if name in DECISIONS}


def test_every_refusal_of_a_forwarded_request_has_a_code() -> None:
    """Those without one answer the gateway's own calls, which are not JSON-RPC."""
    own_calls = {"lease-held", "lease-lost", "no-lease", "epochs-exhausted", "wrong-state", "policies-invalid"}
    own_calls |= {"no-such-resource", "no-such-intent", "no-such-pause", "no-such-notification", "not-in-quarantine"}
    own_calls |= {"not-found", "method-not-allowed"}
    refusals = {name for name, decision in DECISIONS.items() if decision.status is not None and decision.status >= 400}

    assert refusals - rpc_error.CODES.keys() == own_calls


@pytest.mark.parametrize("call", ["7", '"\\u0041"', "1.50e1", "9007199254740993"])
def test_an_error_has_the_calls_id_as_it_was_spelled_and_the_problem_as_its_data(call: str) -> None:
    """A client looks for the very id that it sent; the problem says what it says without JSON-RPC."""
    refused = Refused(STALE_EPOCH, "Not forwarded: epoch 43 rules. Stop.", Facts(resource="note/ü", epoch=42))

    error = rpc_error.render(refused, call)

    assert f'"id": {call}, '.encode() in error
    assert json.loads(error) == {
        "jsonrpc": "2.0",
        "id": json.loads(call),
        "error": {"code": -32009, "message": refused.detail, "data": problem.members(refused)},
    }
    assert b"\n" not in error


def test_a_decision_without_a_code_of_its_own_is_an_internal_error() -> None:
    """A refusal that is added later is still answered."""
    assert rpc_error.code_of("lease-held") == rpc_error.CODES["internal-error"] == -32019
