"""What a principal may do."""

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import FORBIDDEN
from gateway.core.glob import parse_glob
from gateway.core.rights import EVERYTHING, Rights


def rights(*globs: str) -> Rights:
    parsed = [parse_glob(glob) for glob in globs]
    return Rights(tuple(glob for glob in parsed if glob is not None))


@pytest.mark.parametrize(
    ("having", "covered"),
    [(EVERYTHING, True), (rights("mail/*", "report/*"), True), (rights("mail/*"), False), (rights(), False)],
    ids=["everything", "one of two globs", "another glob", "no glob"],
)
def test_a_resource_is_covered_by_any_glob(having: Rights, covered: bool) -> None:
    """Without a limit every resource is."""
    assert having.cover("report/7") is covered


def test_a_refusal_names_who_lacks_the_right() -> None:
    """And nothing of what others have."""
    refused = Caller("ada", "north", rights("mail/*")).forbidden("report/7")

    assert refused is not None
    assert (refused.decision, refused.facts.resource) == (FORBIDDEN, "report/7")
    assert "ada" in refused.detail
    assert Caller("ada", "north", rights("mail/*")).forbidden("mail/7") is None
