"""What the example balancers drop: all that the gateway takes for a claim, which it believes of a trusted proxy."""

import re
from pathlib import Path

import pytest

from gateway.core.forwarded import CLAIMS, CLAIMS_PREFIXES, REPLACED

DEPLOY = Path(__file__).parents[2] / "deploy"
HAPROXY = [re.compile(each) for each in re.findall(r"del-header (\S+) -m reg", (DEPLOY / "haproxy.cfg").read_text())]
# It can drop names, and no beginnings of names; some of each kind stand there.
NGINX = {each.lower() for each in re.findall(r"proxy_set_header (\S+) ", (DEPLOY / "nginx.conf").read_text())}
NAMED = sorted(name.decode() for name in CLAIMS | REPLACED)
# WebSphere's begin with a dollar sign, which is no mark that either of the two passes on as it came.
BEGINNINGS = sorted(each.decode() for each in CLAIMS_PREFIXES if each != b"-ws")


@pytest.mark.parametrize("name", NAMED)
def test_a_claim_is_dropped_by_both(name: str) -> None:
    """Or set anew, as what the balancer itself knows of its caller."""
    assert any(pattern.search(name) for pattern in HAPROXY)
    assert name in NGINX


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_so_are_those_that_begin_alike(beginning: str) -> None:
    """HAProxy drops whatever follows."""
    assert any(pattern.search(f"{beginning}x") for pattern in HAPROXY)
