"""A field's name as those read it who make a variable of it."""

import pytest

from gateway.core.field_name import plain_name, respelled_names


@pytest.mark.parametrize("mark", list("-_.!#$%&'*+^|~`"))
def test_every_mark_of_a_token_is_a_dash(mark: str) -> None:
    """RFC 9110, section 5.6.2, lists them; PHP changes a dot, other heirs of CGI any of them."""
    assert plain_name(f"X{mark}Real-IP{mark}9".encode()) == b"x-real-ip-9"


def test_what_is_no_token_has_a_plain_name_too() -> None:
    """Byte for byte: nothing is taken for a letter that is none."""
    assert plain_name(b"\xc3\x84 \x00a") == b"----a"


@pytest.mark.parametrize(
    ("names", "respelled"),
    [
        pytest.param([], set(), id="none"),
        pytest.param([b"accept", b"x-a-2"], set(), id="plain ones"),
        pytest.param([b"accept", b"x_a", b"x.b", b"x-c"], {b"x-a", b"x-b"}, id="some that are not"),
    ],
)
def test_names_that_are_not_plain_are_told_as_they_are_read(names: list[bytes], respelled: set[bytes]) -> None:
    """The others stand for themselves."""
    assert respelled_names(names) == respelled
