"""The name in `Host`, as all servers take it that read it."""

import pytest

from gateway.core.host import host_name, is_host


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (b"", ""),
        (b"a", "a"),
        (b"A.Example", "a.example"),
        (b"a.example.", "a.example"),
        (b"a.example:8080", "a.example"),
        (b"A.Example.:80", "a.example"),
        (b"a.example:", "a.example"),
        (b"my_service-1:8080", "my_service-1"),
        (b"xn--bcher-kva.example", "xn--bcher-kva.example"),
        (b"127.0.0.1:80", "127.0.0.1"),
        (b"[::1]", "::1"),
        (b"[2001:DB8::1]:443", "2001:db8::1"),
        (b"[::ffff:192.0.2.1]:443", "::ffff:192.0.2.1"),
    ],
)
def test_a_site_has_one_name(value: bytes, name: str) -> None:
    """Whatever its case, with a port or without, with the dot of the root behind it or without."""
    assert is_host(value)
    assert host_name(value) == name


@pytest.mark.parametrize(
    "value",
    [
        *(b"a.example%2e", b"a.example,x", b"a.example;x", b"a.example/", b"a.example b", b"a.example.."),
        *(b".a.example", b"a..example", b".", b"a.example:80:80", b"a.example:x", b":80", b"u@a.example", b"a~b"),
        *(b"[::1", b"::1", b"[::1].", b"[fe80::1%25eth0]", b"[v1.a]", b"[]", b"b\xc3\xbccher.example", b"a\x00"),
        *(b"a.example\n", b"$(a)", b"a*", b"*.example"),
    ],
)
def test_what_no_name_has_is_no_host(value: bytes) -> None:
    """One server cuts it off, another takes it for a part of the name."""
    assert not is_host(value)
