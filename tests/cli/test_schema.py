"""`fencegate schema`: the JSON Schema of policy files."""

import json

from click.testing import CliRunner

from gateway.cli import main
from gateway.policy.review.json_schema import policy_json_schema


def test_it_prints_the_schema_and_nothing_else() -> None:
    """A file that an editor can be given."""
    result = CliRunner().invoke(main, ["schema"])

    assert result.exit_code == 0
    assert json.loads(result.stdout) == policy_json_schema()
