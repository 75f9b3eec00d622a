"""Commands and groups of commands for click, with Reenact's help pages."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from reenact.cli.helping import Rows


SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
_HELP = ("-h, --help", "Show this help.")


class CliArgument(click.Argument):
    """An argument with a help text.

    Args:
        names: The name of its parameter.
        about: The text of `--help`.
        attributes: Those of `click.Argument`.
    """

    def __init__(self, names: Sequence[str], *, about: str, **attributes: Any) -> None:
        super().__init__(names, **attributes)
        self.about = about

    def make_metavar(self, *context: Any) -> str:
        """Return its word in the line of usage, in brackets if it is optional."""
        word = (self.metavar or self.name or "").upper()
        if not self.required and not word.startswith("["):
            word = f"[{word}]"
        return word if self.nargs == 1 or word.rstrip("]").endswith("...") else f"{word}..."


class CliCommand(click.Command):
    """A command; its help is one page of usage, text, arguments and options."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help page."""
        from reenact.cli.helping import HelpPage  # noqa: PLC0415 - for help alone

        page = HelpPage()
        arguments = [one for one in self.params if isinstance(one, CliArgument)]
        words = " ".join(one.make_metavar(ctx) for one in arguments)
        page.usage(f"{ctx.command_path} [OPTIONS] {words}".rstrip())
        page.paragraphs(self.help or "")
        page.section("Arguments", [(one.make_metavar(ctx), one.about) for one in arguments if one.about])
        page.section("Options", [*_options(self, ctx), _HELP])
        formatter.write(str(page))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; if `--` comes first, the first argument has its default."""
        arguments = [one for one in self.params if isinstance(one, CliArgument)]
        if "--" in args and len(arguments) > 1 and arguments[0].default is not None:
            place = args.index("--")
            given, _, _ = self.make_parser(ctx).parse_args(args[:place])
            if not isinstance(given.get(arguments[0].name or ""), str):
                args = [*args[:place], str(arguments[0].default), *args[place:]]
        return super().parse_args(ctx, args)


class CliGroup(click.Group):
    """A group of commands; without a command it shows its help, or runs its own command."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help page."""
        from reenact.cli.helping import HelpPage  # noqa: PLC0415 - for help alone

        page = HelpPage()
        page.usage(f"{ctx.command_path} [OPTIONS] COMMAND [ARGS]...")
        page.paragraphs(self.help or "")
        rows = [
            (name, " ".join((one.help or "").partition("\n\n")[0].split()))
            for name, one in self.commands.items()
        ]
        page.section("Commands", rows)
        page.section("Options", [*_options(self, ctx), _HELP])
        formatter.write(str(page))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which they were added."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help if no command is given."""
        if not (args or self.invoke_without_command or ctx.resilient_parsing):
            click.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)


def _options(command: click.Command, context: click.Context) -> Rows:
    return [_row(one, context) for one in command.params if isinstance(one, click.Option) and not one.hidden]


def _row(option: click.Option, context: click.Context) -> tuple[str, str]:
    """Return the names and the text of an option, with its limits and its default."""
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names += f" / {option.secondary_opts[0]}"
    elif not option.is_flag:
        names += f" {option.metavar or _word(option)}"
    notes = []
    if isinstance(option.type, (click.IntRange, click.FloatRange)):
        limits = (("at least", option.type.min), ("at most", option.type.max))
        notes = [f"{word} {limit:g}" for word, limit in limits if limit is not None]
    if option.required:
        notes.append("required")
    if option.show_default:
        default = option.get_default(context)
        shown = ", ".join(map(str, default)) if isinstance(default, tuple) else default
        notes.append(f"default: {shown}")
    text = option.help or ""
    return names, f"{text} [{'; '.join(notes)}]" if notes else text


def _word(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    names = {"integer": "NUMBER", "integer range": "NUMBER", "float": "NUMBER", "float range": "NUMBER"}
    return names.get(option.type.name, "PATH" if option.type.name == "path" else "TEXT")


def text_of(documented: Any) -> str:
    """Return a docstring with each paragraph on one line, except examples."""
    paragraphs = (inspect.getdoc(documented) or "").split("\n\n")
    return "\n\n".join(one if one.startswith("[bold]") else " ".join(one.split()) for one in paragraphs)
