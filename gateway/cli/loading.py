"""The policies of a directory that a command works with."""

from pathlib import Path

import click

from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.settings import environment


def loaded(directory: Path) -> RuleSet:
    """The rule set of a directory. Raises ClickException with every finding."""
    ruleset = load_policies(directory, environment())
    if isinstance(ruleset, tuple):
        shown = "\n".join(str(finding) for finding in ruleset)
        raise click.ClickException(f"{shown}\nThe policies have errors; correct them first.")
    return ruleset
