"""What a worker is told arrives as it was said."""

from gateway.core.address import Address
from gateway.serve.assignment import Assignment, read_assignment
from gateway.serve.exporting import Traces
from gateway.serve.tls import TlsFiles
from gateway.store.kept_requests import QuarantineBounds


def test_an_assignment_is_read_as_it_was_written() -> None:
    """Every field, through one line of JSON."""
    given = Assignment(
        Address("::1", 8080),
        "/policies",
        "redis://:s3cret@store",
        2.0,
        35.0,
        "json",
        "info",
        TlsFiles("/tls/cert.pem", "/tls/key.pem", "/tls/ca.pem"),
        ("10.0.0.0/8", "2001:db8::/32"),
        QuarantineBounds(60.0, 1 << 20),
        {"/run/secrets/token": "s3cret"},
        traces=Traces("http://collector:4318/v1/traces", 0.25),
        admin=Address("127.0.0.1", 8081),
    )
    line = given.line()

    assert line.count(b"\n") == 1
    assert read_assignment(line) == given


def test_what_is_not_said_is_the_default() -> None:
    """No TLS, and nobody's word is taken for another's."""
    plain = Assignment(Address("127.0.0.1", 0), "/policies", "unix:///s", 2.0, 5.0, "text", "debug")

    assert read_assignment(plain.line()) == plain
    assert (plain.tls, plain.trusted_proxies) == (None, ())
