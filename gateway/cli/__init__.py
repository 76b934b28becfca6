"""The `fencegate` command, one file a subcommand: reads options, calls one thing, prints what it returned.

A subcommand's module is loaded when it is run or asked for help: the list of commands must not wait for a web server to
be imported.
"""

import importlib

import click
from click.shell_completion import CompletionItem

from gateway import __version__
from gateway.cli import output

# Each is a module of its own, with the command as `command`.
_COMMANDS = {
    "serve": "Run the gateway.",
    "deliver": "Deliver what was queued, without serving anybody.",
    "demo": "Tell the story of a paused agent, live.",
    "check": "Check policy files.",
    "test": "Run the *.test.yaml beside policy files.",
    "explain": "Show which rule takes a request, and why others do not; or judge recorded traffic.",
    "import-openapi": "Write a first policy for an API from its OpenAPI document.",
    "schema": "Print the JSON Schema of policy files, for editors.",
    "doctor": "Check whether a store is fit to keep a fence.",
    "resources": "List, show, advance, reset, pause, resume and prune the resources of a running gateway.",
    "leases": "List the live leases of a running gateway: who may write what, until when.",
    "intents": "List, show, resolve, retry and compensate the intents of a running gateway.",
    "approvals": "List, show, approve and deny what waits for an approval at a running gateway.",
    "budgets": "Show what is used of the budgets of a running gateway's rules.",
    "pauses": "List, begin and end pauses: the emergency stop of a running gateway.",
    "quarantine": "List, show, export and drop what came too late to a running gateway, and was kept.",
    "notifications": "List what people are to be told by webhooks, and send dead letters again.",
    "store": "Show whether a running gateway's store has lost what it acknowledged, and go on where it has.",
    "policies": "List the policies in force at a running gateway, and have it read them again.",
    "audit": "Show who wrote what and what was refused, export it, and verify that it was not changed.",
}


class _Commands(click.Group):
    """The subcommands, in the order of the table; none of them loaded before it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"gateway.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # A shell asks whenever a key is pressed, and would wait for every module to be loaded for its help.
        named = [CompletionItem(name, help=text) for name, text in _COMMANDS.items() if name.startswith(incomplete)]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


_EXIT_STATUS = "Exit status: 0 done, 1 something is wrong or could not be done, 2 a slip in the command."


@click.group(cls=_Commands, epilog=_EXIT_STATUS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fencegate")
def main() -> None:
    """fencegate: a write gateway for agents. Its writes are fenced: a holder that was overtaken can no longer write."""


@main.result_callback()
@click.pass_context
def _end(context: click.Context, /, *_: object, **__: object) -> None:
    """A command that could not show everything has shown what it could, and says so by its status."""
    if context.meta.get(output.INCOMPLETE):
        context.exit(1)
