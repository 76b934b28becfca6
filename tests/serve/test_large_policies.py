"""A thousand rules: they serve, and what is changed beside them counts as soon as the files have been read."""

from pathlib import Path

import pytest

from tests.gateway_process import call, running, write_policy
from tests.recording import RecordingUpstream
from tests.serve.test_policies_of_workers import leased, principals
from tests.until import until

pytestmark = pytest.mark.slow
RULES = 1_000


async def test_a_key_that_is_withdrawn_beside_a_thousand_rules_writes_no_more(tmp_path: Path) -> None:
    """Through none of the workers; whoever has still a key writes on."""
    more = "".join(
        f"  - {{name: rule{at}, match: 'PUT /reports/{at}/parts/{{id}}', resource: 'part{at}/{{path.id}}'}}\n"
        for at in range(RULES)
    )
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        (policies / "reports.yaml").write_text((policies / "reports.yaml").read_text() + more)
        (policies / "principals.yaml").write_text(principals("ada", "bob"))
        async with running(tmp_path, "--workers", "2") as gateway:
            token = await leased(gateway, "Fencegate-Key: ada")
            first = await call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: ada", token, body=b"{}")
            (policies / "principals.yaml").write_text(principals("bob"))

            async def is_nobody() -> bool:
                told = [
                    await call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: ada", token, body=b"{}")
                    for _ in range(8)
                ]
                return {answer.decision for answer in told} == {"unauthenticated"}

            await until(is_nobody)
            sent = len(upstream.seen)
            last = await call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: ada", token, body=b"{}")
            other = await call(gateway.proxy, "PUT", "/reports/7", "Fencegate-Key: bob", token, body=b"{}")

            assert (first.decision, last.decision, other.decision) == ("forwarded", "unauthenticated", "forwarded")
            assert len(upstream.seen) == sent + 1
