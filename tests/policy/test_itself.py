"""No upstream is the gateway itself."""

from pathlib import Path

import pytest

from gateway.policy.reload import PolicyHolder, Reloaded
from tests.policy.asking import one_rule

ADMIN = 8081
REACHED = {
    "the same address": ("127.0.0.1", "127.0.0.1", True),
    "a name of the machine": ("localhost", "127.0.0.1", True),
    "its other loopback address, under a name": ("localhost", "::1", True),
    "no address at all": ("0.0.0.0", "127.0.0.1", True),
    "loopback, where it listens everywhere": ("127.0.0.1", "0.0.0.0", True),
    "loopback in IPv6, where it listens everywhere": ("[::1]", "::", True),
    "a host by its own name": ("gate.internal", "gate.internal", True),
    "a short form": ("127.1", "127.0.0.1", True),
    "a number": ("2130706433", "127.0.0.1", True),
    "in hexadecimal": ("0x7f.1", "127.0.0.1", True),
    "IPv4 in IPv6": ("[::ffff:127.0.0.1]", "127.0.0.1", True),
    "IPv4 in IPv6, where it listens everywhere": ("[::ffff:127.0.0.1]", "0.0.0.0", True),
    "any loopback address, where it listens everywhere": ("127.0.0.5", "0.0.0.0", True),
    "another machine, where it listens everywhere": ("192.0.2.1", "0.0.0.0", False),
    "another loopback address": ("127.0.0.2", "127.0.0.1", False),
    "another machine": ("192.0.2.1", "127.0.0.1", False),
    "another name": ("api.internal", "127.0.0.1", False),
}


@pytest.mark.parametrize(("host", "listener", "refused"), REACHED.values(), ids=REACHED.keys())
def test_an_upstream_at_the_gateways_own_port_is_refused(
    host: str, listener: str, refused: bool, tmp_path: Path
) -> None:
    """Agents would reach the operators' calls through it; another port is anybody's."""
    (tmp_path / "policy.yaml").write_text(
        one_rule().replace("url: http://127.0.0.1:9000", f"url: http://{host}:{ADMIN}")
    )

    opened = PolicyHolder.open(tmp_path, {}, listeners=((listener, ADMIN), (listener, 8080)))

    assert isinstance(opened, tuple) is refused
    assert not isinstance(opened, tuple) or "itself listens" in opened[0].message
    assert isinstance(PolicyHolder.open(tmp_path, {}, listeners=((listener, 9),)), PolicyHolder)


@pytest.mark.parametrize(
    ("known", "refused"),
    [(("127.0.0.1",), True), (("192.0.2.1", "127.0.0.1"), True), (("192.0.2.1",), False), ((), False)],
    ids=["the machine", "the machine too", "another one", "unknown"],
)
def test_a_name_counts_by_its_addresses(
    known: tuple[str, ...], refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that nobody knows is no fault: it may be known later. It is asked for where the port is the gateway's."""
    (tmp_path / "policy.yaml").write_text(one_rule().replace("127.0.0.1:9000", f"api.internal:{ADMIN}"))
    asked: list[str] = []

    def ask(host: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(0, 0, 0, "", (one, 0)) for one in (known if host == "api.internal" else (host,))]

    monkeypatch.setattr("socket.getaddrinfo", ask)

    opened = PolicyHolder.open(tmp_path, {}, listeners=(("127.0.0.1", ADMIN),))
    assert isinstance(opened, tuple) is refused
    assert sorted(asked) == ["127.0.0.1", "api.internal"]
    assert isinstance(PolicyHolder.open(tmp_path, {}, listeners=(("127.0.0.1", 9),)), PolicyHolder)
    assert len(asked) == 2


def test_a_reload_does_not_let_it_in(tmp_path: Path) -> None:
    """The set in force stays, and says why."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(one_rule())
    holder = PolicyHolder.open(tmp_path, {}, listeners=(("127.0.0.1", ADMIN),))
    assert isinstance(holder, PolicyHolder)
    assert isinstance(holder.reload(), Reloaded)

    policy.write_text(one_rule().replace("url: http://127.0.0.1:9000", f"url: http://localhost:{ADMIN}/api"))

    findings = holder.reload()
    assert isinstance(findings, tuple)
    assert "itself listens" in findings[0].message
    assert holder.current.upstreams[0].origin.port == 9000


def test_nobody_is_told_of_events_at_the_gateway_itself(tmp_path: Path) -> None:
    """A message would be a call."""
    notify = f"notify: {{url: 'http://localhost:{ADMIN}/x', secret: 'whsec_{'A' * 32}', events: [unknown]}}\n"
    (tmp_path / "policy.yaml").write_text(one_rule() + notify)

    opened = PolicyHolder.open(tmp_path, {}, listeners=(("127.0.0.1", ADMIN),))

    assert isinstance(opened, tuple)
    assert "`notify`" in opened[0].message
