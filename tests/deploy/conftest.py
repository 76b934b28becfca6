"""The durable store of the stories, for gateways that are killed here."""

from tests.story.conftest import shared_store

__all__ = ["shared_store"]
