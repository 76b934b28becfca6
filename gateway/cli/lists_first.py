"""A command that lists where no subcommand is named: `fencegate quarantine --json`."""

import click

_LONGEST_SENTENCE = 200


class ListsFirst(click.Group):
    """A group whose subcommand `list` may be left out, or another one that only shows."""

    first = "list"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # A shell that asks what may come next has not left it out yet.
        left_out = not args and not ctx.resilient_parsing
        if left_out or (args and args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [self.first, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """With the whole first sentence of each: click would cut it off in its middle."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(_LONGEST_SENTENCE)) for name, each in commands if each])
        formatter.write_paragraph()
        formatter.write_text(f"Without a command: {self.first}.")
