"""The real sender, for every test of this folder that sends."""

from collections.abc import AsyncIterator

import pytest

from gateway.flow.clock import BootClock
from gateway.upstream.sender import HttpSender


@pytest.fixture
async def sender() -> AsyncIterator[HttpSender]:
    sender = HttpSender(BootClock())
    yield sender
    sender.close()
