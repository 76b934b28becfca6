"""What agents send through the proxy listener gets nowhere at the admin listener."""

from pathlib import Path

import pytest

from tests.admin.conftest import listening
from tests.stack import POLICY

VIA = POLICY.format(port=9) + "via: Fence.internal\n"


@pytest.mark.parametrize(
    ("fields", "is_refused"),
    [
        (("Via: 1.1 fence.internal",), True),
        (("Via: 1.1 proxy, 1.1 FENCE.internal (a comment)",), True),
        (("Via: 1.1 proxy", "Via: HTTP/1.1 fence.internal"), True),
        (("Via: 1.1 proxy",), False),
        (("Via: fence.internal",), False),
        (("Via: ,,  ,",), False),
        ((), False),
    ],
    ids=["by the gateway", "in a list", "in a second field", "by another", "no hop", "nothing", "no Via"],
)
async def test_a_call_that_came_by_the_gateway_is_refused(
    store_url: str, tmp_path: Path, fields: tuple[str, ...], is_refused: bool
) -> None:
    """Reads too, and with the admin token: `via` says so on whatever the gateway forwards."""
    async with listening(store_url, tmp_path, policy=VIA, token="a-token") as admin:
        answer = await admin.call("GET", "/api/v1/policies", "Authorization: Bearer a-token", *fields)

        assert answer.status == (403 if is_refused else 200)
        assert not is_refused or "came through the gateway's proxy listener" in str(answer.problem["detail"])


async def test_without_via_nobody_is_taken_for_the_gateway(store_url: str, tmp_path: Path) -> None:
    """A proxy of the operators may name itself."""
    async with listening(store_url, tmp_path) as admin:
        assert (await admin.call("GET", "/api/v1/policies", "Via: 1.1 fencegate")).status == 200
