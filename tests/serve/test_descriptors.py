"""How many connections the system lets a worker have."""

import resource

import pytest

from gateway.log import Log
from gateway.serve.descriptors import allowed_connections, raise_limit


def test_the_soft_limit_becomes_the_hard_one() -> None:
    """A login shell's 1,024 are for programs of another time."""
    raise_limit()

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert soft == hard


def test_callers_leave_descriptors_to_the_rest(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Upstreams, the store and spooled bodies want a quarter of them; whoever wants more for callers is told so."""
    monkeypatch.setattr(resource, "getrlimit", lambda _limit: (1000, 1000))

    assert allowed_connections(500, Log()) == 500
    assert capfd.readouterr().err == ""
    assert allowed_connections(10_000, Log()) == 750
    assert "fewer connections than --max-connections" in capfd.readouterr().err
