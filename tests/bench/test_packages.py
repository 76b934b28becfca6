"""Where nginx has its modules."""

from pathlib import Path

import pytest

from tests.bench.packages import read_modules_path


@pytest.mark.parametrize(
    ("said", "path"),
    [
        pytest.param(
            "configure arguments: --a=b --modules-path=/opt/modules --c", "/opt/modules", id="as it was built"
        ),
        pytest.param("nginx version: nginx/1.22.1", "/usr/lib/nginx/modules", id="as Debian has it"),
    ],
)
def test_modules_are_where_nginx_was_built_to_look(said: str, path: str) -> None:
    """A relative path would be one under the benchmark's own directory."""
    assert read_modules_path(said) == Path(path)
