"""The package's docstring is a map of its modules."""

from pathlib import Path

import gateway.policy


def test_the_map_names_every_module() -> None:
    """Who looks for one finds in it what the others do before and behind that."""
    written = gateway.policy.__doc__ or ""
    modules = {path.stem for path in Path(gateway.policy.__path__[0]).iterdir() if not path.name.startswith("__")}

    assert {name for name in modules if f"`{name}" not in written} == set()
