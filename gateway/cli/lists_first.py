"""A command that lists where no subcommand is named: `fencegate quarantine --json`."""

import click


class ListsFirst(click.Group):
    """A group whose subcommand `list` may be left out, or another one that only shows."""

    first = "list"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A shell that asks what may come next has not left it out yet.
        left_out = not args and not ctx.resilient_parsing
        if left_out or (args and args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [self.first, *args]
        return super().parse_args(ctx, args)
