"""What an upstream is told of a request's way, and whom the log names."""

from ipaddress import ip_network

import pytest

from gateway.core.arrival import Arrival, TrustedProxies
from gateway.core.forwarded import client_address, told_of_the_way
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Forwarded
from gateway.core.target import Target, read_target

PROXIES = TrustedProxies([ip_network("10.0.0.0/8")])
PROXY = Arrival("10.0.0.1", is_trusted=True)
AGENT = Arrival("192.0.2.9", "https")
HOST = (b"Host", b"gate:8080")
FOR, PROTO, ON = (b"X-Forwarded-For", b"192.0.2.1"), (b"X-Forwarded-Proto", b"https"), (b"X-Forwarded-Host", b"shop")


def request(arrival: Arrival | None, *pairs: tuple[bytes, bytes]) -> Request:
    target = read_target("/")
    assert isinstance(target, Target)
    return Request("PUT", target, Headers(pairs), arrival=arrival)


@pytest.mark.parametrize(
    ("form", "asked", "told"),
    [
        ("trusted", request(PROXY, FOR, HOST), ()),
        ("x-forwarded", request(None, HOST), ()),
        (
            "x-forwarded",
            request(AGENT, FOR, PROTO, ON, HOST),
            (
                (b"X-Forwarded-For", b"192.0.2.9"),
                (b"X-Forwarded-Proto", b"https"),
                (b"X-Forwarded-Host", b"gate:8080"),
            ),
        ),
        (
            "x-forwarded",
            request(PROXY, FOR, (b"x-forwarded-for", b""), (b"x-forwarded-for", b"10.0.0.9"), PROTO, ON, HOST),
            ((b"X-Forwarded-For", b"192.0.2.1, 10.0.0.9, 10.0.0.1"), PROTO, ON),
        ),
        (
            "x-forwarded",
            request(PROXY, (b"Forwarded", b"for=192.0.2.1;proto=https")),
            ((b"X-Forwarded-For", b"10.0.0.1"), (b"X-Forwarded-Proto", b"http")),
        ),
        ("rfc7239", request(AGENT, FOR, HOST), ((b"Forwarded", b'for=192.0.2.9;proto=https;host="gate:8080"'),)),
        (
            "rfc7239",
            request(PROXY, (b"Forwarded", b'for="[2001:db8::1]:80"'), (b"Host", b"gate")),
            ((b"Forwarded", b'for="[2001:db8::1]:80", for=10.0.0.1;proto=http;host=gate'),),
        ),
        (
            "rfc7239",
            request(PROXY, (b"Forwarded", b'for="192.0.2.1'), (b"Forwarded", b'for="\\"_a\\\\"')),
            ((b"Forwarded", b'for="\\"_a\\\\", for=10.0.0.1;proto=http'),),
        ),
        ("rfc7239", request(PROXY, (b"Forwarded", b'for="_a\\"')), ((b"Forwarded", b"for=10.0.0.1;proto=http"),)),
        ("rfc7239", request(Arrival("2001:db8::2")), ((b"Forwarded", b'for="[2001:db8::2]";proto=http'),)),
    ],
    ids=[
        "nothing is added unless it is asked for",
        "a request of the gateway's own came from nobody",
        "an agent is what its socket says",
        "a proxy's word is continued with the proxy",
        "the other form does not count",
        "an agent in RFC 7239's form",
        "a proxy's word in RFC 7239's form",
        "an open quote would take in what is added",
        "a quote that only seems closed",
        "an IPv6 address stands in brackets and quotes",
    ],
)
def test_the_way_is_told_in_the_form_that_the_upstream_wants(
    form: Forwarded, asked: Request, told: HeaderPairs
) -> None:
    """Of an agent only its own address; of a trusted proxy what it said, and it."""
    assert told_of_the_way(form, asked) == told


@pytest.mark.parametrize(
    ("arrival", "listed", "client"),
    [
        (AGENT, (b"198.51.100.1",), "192.0.2.9"),
        (PROXY, (), "10.0.0.1"),
        (PROXY, (b"198.51.100.1, 192.0.2.1",), "192.0.2.1"),
        (PROXY, (b"198.51.100.1", b"192.0.2.1 , 10.0.0.2"), "192.0.2.1"),
        (PROXY, (b"10.0.0.3, 10.0.0.2",), "10.0.0.3"),
        (PROXY, (b"192.0.2.1, unknown, 10.0.0.2",), "10.0.0.2"),
        (PROXY, (b"192.0.2.1:4711",), "192.0.2.1"),
        (PROXY, (b"[2001:db8::1]:4711",), "2001:db8::1"),
        (PROXY, (b"2001:db8::1",), "2001:db8::1"),
        (PROXY, (b"\xff\n",), "10.0.0.1"),
        (PROXY, (b"192.0.2.1" + b", 10.0.0.7" * 32,), "10.0.0.7"),
    ],
    ids=[
        "an agent's own claim",
        "a proxy that says nothing",
        "the hop before the proxy",
        "over two lines and two proxies",
        "proxies only",
        "a hop that hides",
        "a port",
        "IPv6 with a port",
        "IPv6",
        "no address",
        "more hops than are looked at",
    ],
)
def test_the_client_is_the_first_hop_that_is_no_trusted_proxy(
    arrival: Arrival, listed: tuple[bytes, ...], client: str
) -> None:
    """Looked for from this end: what stands further away may be invented."""
    headers = Headers((b"X-Forwarded-For", line) for line in listed)

    assert client_address(arrival, headers, PROXIES) == client
