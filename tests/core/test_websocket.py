"""RFC 6455: handshakes, their answers, and where frames end."""

import pytest

from gateway.core.request import Headers
from gateway.core.websocket import (
    POLICY_VIOLATION,
    Frames,
    accept_of,
    asks_for_upgrade,
    close_frame,
    handshake_fault,
    offers_http2,
    switch_fault,
)

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ASKED = {
    b"upgrade": b"websocket",
    b"connection": b"Upgrade",
    b"sec-websocket-version": b"13",
    b"sec-websocket-key": KEY,
}
ANSWERED = {b"upgrade": b"websocket", b"connection": b"Upgrade", b"sec-websocket-accept": accept_of(KEY)}


def headers(fields: dict[bytes, bytes], *more: tuple[bytes, bytes], without: bytes = b"") -> Headers:
    return Headers((*((name, value) for name, value in fields.items() if name != without), *more))


def test_the_proof_is_the_rfc_s() -> None:
    """Section 1.3's own example."""
    assert accept_of(KEY) == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_any_upgrade_asks_for_one() -> None:
    """Whatever its protocol."""
    assert asks_for_upgrade(Headers(((b"Upgrade", b"h2c"),)))
    assert not asks_for_upgrade(Headers(((b"Connection", b"upgrade"),)))


BOTH, SETTINGS = (b"Connection", b"Upgrade, HTTP2-Settings"), (b"HTTP2-Settings", b"AAM")


@pytest.mark.parametrize(
    ("fields", "offers"),
    [
        ((BOTH, (b"Upgrade", b"h2c"), SETTINGS), True),
        (((b"Connection", b"http2-settings"), (b"Connection", b"upgrade"), (b"upgrade", b"H2C"), SETTINGS), True),
        ((BOTH, (b"Upgrade", b"h2c")), False),
        ((BOTH, (b"Upgrade", b"h2c"), SETTINGS, SETTINGS), False),
        (((b"Connection", b"Upgrade"), (b"Upgrade", b"h2c"), SETTINGS), False),
        ((BOTH, (b"Upgrade", b"h2c, websocket"), SETTINGS), False),
        ((BOTH, (b"Upgrade", b"h2c"), (b"Upgrade", b"websocket"), SETTINGS), False),
        ((BOTH, (b"Upgrade", b"h2"), SETTINGS), False),
        ((BOTH, SETTINGS), False),
    ],
)
def test_an_offer_of_http2_asks_for_nothing(fields: tuple[tuple[bytes, bytes], ...], offers: bool) -> None:
    """As Java's client and curl make it: whole, and of nothing else."""
    assert offers_http2(Headers(fields)) is offers
    assert asks_for_upgrade(Headers(fields)) is (not offers and any(name.lower() == b"upgrade" for name, _ in fields))


@pytest.mark.parametrize(
    ("fields", "is_one"),
    [
        pytest.param(headers(ASKED), True, id="as in the RFC"),
        pytest.param(headers(ASKED | {b"upgrade": b"WebSocket"}), True, id="in another case"),
        pytest.param(headers(ASKED | {b"connection": b"keep-alive, upgrade"}), True, id="as Firefox has it"),
        pytest.param(headers(ASKED, (b"connection", b"x")), True, id="with two lines of Connection"),
        pytest.param(headers(ASKED | {b"connection": b"upgraded"}), False, id="another Connection"),
        *(pytest.param(headers(ASKED, without=name), False, id=f"without {name.decode()}") for name in ASKED),
        *(
            pytest.param(headers(ASKED, (name, ASKED[name])), False, id=f"{name.decode()} twice")
            for name in ASKED
            if name != b"connection"
        ),
    ],
)
def test_a_handshake_has_each_of_its_fields_once(fields: Headers, is_one: bool) -> None:
    """Section 4.1; only Connection may have more lines."""
    assert (handshake_fault("GET", fields) is None) == is_one
    assert handshake_fault("POST", fields) is not None


@pytest.mark.parametrize(
    ("fields", "is_one"),
    [
        pytest.param(headers(ANSWERED), True, id="as in the RFC"),
        pytest.param(headers(ANSWERED, (b"sec-websocket-protocol", b"chat")), True, id="with a subprotocol"),
        pytest.param(headers(ANSWERED | {b"sec-websocket-accept": accept_of(b"another")}), False, id="another key's"),
        pytest.param(headers(ANSWERED | {b"upgrade": b"h2c"}), False, id="another protocol"),
        *(pytest.param(headers(ANSWERED, without=name), False, id=f"without {name.decode()}") for name in ANSWERED),
    ],
)
def test_an_answer_proves_that_its_handshake_was_read(fields: Headers, is_one: bool) -> None:
    """Whoever answers otherwise is no WebSocket server, or answers somebody else."""
    assert (switch_fault(headers(ASKED), fields) is None) == is_one


def test_a_close_frame_is_one_control_frame() -> None:
    """The code comes first; a reason is cut so that it fits."""
    assert close_frame(POLICY_VIOLATION, "stale-epoch") == b"\x88\x0d\x03\xf0stale-epoch"
    assert len(close_frame(POLICY_VIOLATION, "x" * 1000)) == 127


FRAMES = {
    "empty": b"\x81\x00",
    "short": b"\x81\x05hello",
    "masked": b"\x81\x85\x00\x00\x00\x00hello",
    "of 126 bytes": b"\x82\x7e\x00\x7e" + b"a" * 126,
    "of 65,536 bytes": b"\x82\x7f" + (65_536).to_bytes(8, "big") + b"a" * 65_536,
    "masked, of 300 bytes": b"\x82\xfe\x01\x2c" + b"mask" + b"a" * 300,
    "a fragment": b"\x01\x02ab",
    "a ping": b"\x89\x00",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("size", [1, 3, 100_000])
def test_a_frame_ends_with_its_last_byte(frame: bytes, size: int) -> None:
    """And not before, however it is cut; another one may follow in the same piece."""
    frames = Frames()
    for at in range(0, len(frame) - 1, size):
        frames.feed(frame[at : min(at + size, len(frame) - 1)])
        assert not frames.at_end
    frames.feed(frame[-1:])
    assert frames.at_end

    frames.feed(frame + frame[:1])
    assert not frames.at_end
