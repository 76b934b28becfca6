"""A host that is passed on is spelled as the mount spells it: servers know their sites by exactly that."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from tests.policy.asking import HEAD, request, rules

POLICY = f"""{HEAD}
writes: [{{name: write, match: "PUT /x/{{id}}", resource: "x/{{path.id}}"}}]
"""
PORTS = [f"a.example{end}" for end in ("", ":", ":80", ":08080", ".:8080")]
PRESERVE, TOLD, URL = "host: preserve\n", "forwarded: x-forwarded\n", ""


@pytest.mark.parametrize(
    ("more", "mount", "hosts"),
    [
        (PRESERVE, "a.example", {"a.example": True, "A.example": False, "a.example.": False, "a.example:80": False}),
        (PRESERVE, "A.Example:8080", {"a.example:8080": True, **dict.fromkeys(PORTS, False)}),
        (PRESERVE, "'[::1]'", {"[::1]": True, "[::1]:80": False}),
        (PRESERVE, "'[::1]:8080'", {"[::1]:8080": True, "[::1]": False}),
        (TOLD, "a.example", {"a.example": True, "a.example:8080": True, "a.example:": False, "A.example:1": False}),
        ("forwarded: rfc7239\n", "a.example", {"a.example:1": True, "a.example.:1": False}),
        (URL, "a.example", {"a.example": True, "A.example": True, "a.example.:80": True}),
    ],
    ids=["plain", "with a port", "an address", "an address and a port", "told", "told by the standard", "not told"],
)
@pytest.mark.parametrize("method", ["PUT", "GET"])
def test_a_host_that_the_api_is_told_is_spelled_as_the_mount(
    tmp_path: Path, method: str, more: str, mount: str, hosts: dict[str, bool]
) -> None:
    """Reads too: another site's are not this one's. Where it is told beside the request its port counts for nobody."""
    ruleset = rules(tmp_path, f"{POLICY}{more}mount: {{host: {mount}}}\n")
    passed = "forwarded" if method == "PUT" else "passed"

    told = {host: answer(ruleset, request(method, "/x/7", ("Host", host)), NOBODY).decision for host in hosts}

    assert told == {host: passed if is_own else "ambiguous-target" for host, is_own in hosts.items()}


def test_a_mount_of_every_host_takes_any(tmp_path: Path) -> None:
    """`check` warns of it."""
    ruleset = rules(tmp_path, POLICY + PRESERVE)

    assert answer(ruleset, request("PUT", "/x/7", ("Host", "A.example.:9")), NOBODY).decision == "forwarded"
