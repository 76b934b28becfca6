"""The page about what is in `deploy` names all of it."""

from tests.pages import ROOT

DEPLOY = ROOT / "deploy"
PAGE = (DEPLOY / "README.md").read_text()
# What makes the pages and the dashboard; each is told where its product is.
GENERATORS = {".py"}


def test_all_that_is_here_is_named() -> None:
    """A file that nobody is told of is not used."""
    here = {path.name for path in DEPLOY.iterdir() if path.suffix not in GENERATORS and path.name != "__pycache__"}

    assert {name for name in here - {"README.md"} if name not in PAGE} == set()
