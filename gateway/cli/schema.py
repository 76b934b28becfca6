"""`fencegate schema`: what editors need to complete and check policy files."""

import click

from gateway.cli.output import print_json
from gateway.policy.review.json_schema import policy_json_schema


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of policy files. Rules that span several fields are only known to `fencegate check`."""
    print_json(policy_json_schema())
