"""A body that is here whole."""

import asyncio

import pytest

from gateway.core.whole_body import WholeBody


@pytest.mark.parametrize(("body", "whole"), [(WholeBody(b"body"), b"body"), (WholeBody(), b"")], ids=["some", "none"])
def test_nothing_of_it_is_still_to_come(body: WholeBody, whole: bytes) -> None:
    """It is taken at once, as often as it is asked for; nothing follows."""
    assert (body.length, body.take_buffered(), body.rewind(), body.take_buffered()) == (len(whole), whole, True, whole)
    assert asyncio.run(body.read()) == b""
