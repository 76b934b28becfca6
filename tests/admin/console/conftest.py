"""The demo's gateway, its story told once: what the pages show is real."""

from collections.abc import Iterator

import pytest

from gateway.cli.story.scenes import Scenes, Teller
from gateway.cli.story.stage import Stage, set_stage


@pytest.fixture(scope="package")
def told() -> Iterator[Stage]:
    """A gateway before the sample API, after agent A was overtaken by B and came back too late."""
    with set_stage() as stage:
        Scenes(stage, Teller()).paused_agent()
        Scenes(stage, Teller()).broken_off()
        yield stage
