"""Every call of the OpenAPI document, tried by schemathesis: with what fits the document, and with what does not.

Nothing makes the listener fail, whatever it answers is described, and what breaks the document's own rules is refused.
"""

import asyncio
import json
from pathlib import Path

import pytest
import requests
import schemathesis
from hypothesis import given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, checks
from schemathesis.checks import CheckFunction
from schemathesis.specs.openapi import checks as described

from gateway.admin.call import Call
from gateway.admin.calls import CALLS
from gateway.admin.openapi import describe
from tests.admin.conftest import Admin, listening
from tests.intending import SEVEN, begun, ended, intended
from tests.lateness import late, quarantined
from tests.store.parked import APPROVED, mail, parked

TOKEN = "0123456789abcdef"
BEARER = f"Bearer {TOKEN}"
CHECKS: list[CheckFunction] = [
    checks.not_a_server_error,
    described.status_code_conformance,
    described.content_type_conformance,
    described.response_headers_conformance,
    described.response_schema_conformance,
]
# Enough to meet each member of each document; the slow run looks for what is rare.
FEW, MANY = 10, 300


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
async def test_no_call_fails(call: Call, store_url: str, tmp_path: Path) -> None:
    """Half of them are about what is there, the others about what is not."""
    await tried(call, FEW, store_url, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
async def test_no_call_fails_however_long_it_is_tried(call: Call, store_url: str, tmp_path: Path) -> None:
    """The same, for minutes."""
    await tried(call, MANY, store_url, tmp_path)


async def tried(call: Call, examples: int, store_url: str, directory: Path) -> None:
    async with listening(store_url, directory, token=TOKEN) as admin:
        await asyncio.to_thread(_try, call, examples, admin.port, await ids(admin))


async def ids(admin: Admin) -> list[str]:
    """Of things of all kinds, and a resource: an invented name leads no deeper than to the look-up."""
    unknown = await ended(admin.store, intended("k-1"), "unknown")
    applied = await ended(admin.store, intended("k-2"), "applied")
    in_flight = await begun(admin.store, intended("k-3"))
    waiting = await parked(admin.store, mail("one", of=APPROVED))
    pause = await admin.call(
        "POST", "/api/v1/pauses", f"Authorization: {BEARER}", body=b'{"resource": "report/9", "reason": "x"}'
    )
    named = [str(admitted.intent) for admitted in (unknown, applied, in_flight)]
    return [*named, waiting.id, json.loads(pause.body)["id"], await quarantined(admin.store, late()), SEVEN]


def _try(call: Call, examples: int, port: int, names: list[str]) -> None:
    operation = schemathesis.openapi.from_dict(_without_security())[call.path][call.method]
    cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))
    # What is wrong with a query may be lost on the way, as an empty list is; a slip in one is for test_query.py.
    rejection = [described.negative_data_rejection] if call.body is not None else []
    with requests.Session() as session:
        # There is nothing to vary where nothing is read.
        @settings(max_examples=examples if call.parameters or call.body else 1, derandomize=True, database=None)
        @given(case=cases, name=st.sampled_from(names), is_there=st.booleans())
        def judge(case: Case, name: str, is_there: bool) -> None:
            if is_there:
                case.path_parameters = dict.fromkeys(case.path_parameters or {}, name)
            answer = case.call(f"http://127.0.0.1:{port}", session, {"Authorization": BEARER})
            # A document that is too large is refused for that, whatever else is wrong with it.
            case.validate_response(answer, checks=[*CHECKS, *([] if answer.status_code == 413 else rejection)])

        judge()


def _without_security() -> dict[str, object]:
    """The document; who may call is for test_auth.py, and the token is put in by hand."""
    document = json.loads(json.dumps(describe(CALLS)))
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["security"] = []
    return document
