"""A key that stands in the body: one intent for each text that it is, and none for what is no text and no number."""

from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: pay
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: pay
    match: POST /pay
    resource: pay
    authority: header
    intent: {{mode: required, key: "{{json:/reference}}"}}
  - name: plain
    match: POST /plain
    resource: plain
    authority: header
    intent: {{mode: required}}
"""
PROOF = ("Fencing-Token: 42", "Fencing-Holder: a", "Content-Type: application/json")


async def pay(gate: Stack, reference: str) -> RawAnswer:
    return await ask(gate.port, "POST", "/pay", *PROOF, body=f'{{"reference": {reference}}}'.encode())


async def test_a_number_and_its_text_are_one_key_of_two_requests(store_url: str, tmp_path: Path) -> None:
    """The second is no repeat of the first, and is not sent beside it."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        told = [(await pay(gate, reference)).decision for reference in ("5", '"5"', "5")]

        assert told == ["forwarded", "intent-mismatch", "replayed"]
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("reference", ["5.0", "5e0", "{}", '""', "null", "true", '["5"]', "-0", "1e400"])
async def test_what_has_several_spellings_names_no_intent(store_url: str, tmp_path: Path, reference: str) -> None:
    """Nothing is sent, where a server might read 5."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        first = await pay(gate, "5")
        refused = await pay(gate, reference)

        assert (first.decision, refused.status) == ("forwarded", 400)
        assert refused.decision in ("resource-unresolved", "ambiguous-target")
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize(
    ("keys", "decision"),
    [
        (("k",), "replayed"),
        (('"k"',), "replayed"),
        ((" k ",), "replayed"),
        (('"k";a=1',), "header-malformed"),
        (('"\\k"',), "header-malformed"),
        (("k", "k"), "header-malformed"),
    ],
)
async def test_a_key_in_a_field_has_two_spellings(
    store_url: str, tmp_path: Path, keys: tuple[str, ...], decision: str
) -> None:
    """Bare and quoted; nothing else is one, nor are two."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await ask(gate.port, "POST", "/plain", *PROOF, "Idempotency-Key: k", body=b"{}")
        fields = (f"Idempotency-Key: {key}" for key in keys)

        assert (await ask(gate.port, "POST", "/plain", *PROOF, *fields, body=b"{}")).decision == decision
        assert len(gate.upstream.seen) == 1


async def test_no_body_is_another_request(store_url: str, tmp_path: Path) -> None:
    """Under the key of one that had one."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        key = "Idempotency-Key: k"
        told = [(await ask(gate.port, "POST", "/plain", *PROOF, key, body=body)).decision for body in (b"{}", b"")]

        assert told == ["forwarded", "intent-mismatch"]
        assert len(gate.upstream.seen) == 1
