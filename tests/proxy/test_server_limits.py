"""What an API's own server would drop or cut off is refused here, and moves nothing."""

from pathlib import Path

import pytest

from tests.raw import ask
from tests.stack import stack

POLICY = """
upstream: orders
url: http://localhost:{port}
mount: {{path: /o, format_endings: [json]}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /o/orders, when: {{form: {{action: view}}}}}}
writes:
  - {{name: any, match: POST /o/orders, resource: orders, authority: header}}
  - {{name: one, match: "PUT /o/orders/{{id}}", resource: "order/{{path.id}}", authority: header}}
"""
FORM = "Content-Type: application/x-www-form-urlencoded"
HUGE = b"action=view&x=" + b"y" * (2 << 20)


@pytest.mark.parametrize(
    ("query", "body", "decision"),
    [
        pytest.param("", b"action=view", "passed", id="plain"),
        pytest.param("?" + "a&" * 998 + "a", b"action=view", "passed", id="a thousand"),
        pytest.param("?" + "a&" * 998 + "a", b"x=1&action=view", "ambiguous-target", id="one more"),
        pytest.param("", HUGE, "body-too-large", id="too large"),
    ],
)
async def test_no_write_passes_as_a_read_because_its_form_is_dropped(
    query: str, body: bytes, decision: str, store_url: str, tmp_path: Path
) -> None:
    """Tomcat runs it without its fields, and says nothing."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        answer = await ask(gate.port, "POST", f"/o/orders{query}", FORM, body=body)

        assert answer.decision == decision
        assert len(gate.upstream.seen) == (decision == "passed")


async def test_no_former_holder_writes_by_a_path_with_a_format(store_url: str, tmp_path: Path) -> None:
    """It is the document's own path to the API, and the other resource's epoch stays where it was."""
    shown = ("Fencing-Token: 5", "Fencing-Holder: a")
    async with stack(store_url, tmp_path, POLICY) as gate:
        answers = [
            await ask(gate.port, "PUT", f"/o/orders/{name}", *shown, body=b"new")
            for name in ("7.json", "7%2EJSON", "7")
        ]

        assert [one.decision for one in answers] == ["ambiguous-target", "ambiguous-target", "forwarded"]
        assert len(gate.upstream.seen) == 1
        assert "without the ending" in str(answers[0].problem["detail"])
