"""Make the command of a verb from the fields of its `Options`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, NoReturn, get_args, get_origin

import click

from reenact.cli.click_commands import SETTINGS, CliArgument, CliCommand, CliGroup, text_of
from reenact.cli.context import TerminalContext
from reenact.cli.panels import COMMANDS
from reenact.cli.printing import dump
from reenact.core import system
from reenact.core.dataclass import dataclass
from reenact.errors import FilterError, MissingExtra, UsageError
from reenact.verbs import configuration
from reenact.verbs.fields import OptionField, choices, words
from reenact.verbs.interface import Options, Result
from reenact.verbs.marks import RECORDING, Cli
from reenact.verbs.registry import Verb

_PATH = click.Path(path_type=Path)

LAST = "last"
"""The default recording of a command: the newest."""

_QUIET_DEATHS = system.signals("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")


@dataclass(frozen=True)
class GroupCommand:
    """A command of a group.

    Attributes:
        name: Its name.
        options: Its options.
        run: Runs it, and shows the result.
    """

    name: str
    options: type[Options]
    run: Callable[[Any, TerminalContext], None]


def command_of(verb: Verb) -> CliCommand:
    """Return the command of a verb."""
    module = verb.module

    def run(options: Options, context: TerminalContext) -> int:
        result = module.run(options, context)
        _show(result, options, context)
        return result.status

    return _command(verb.name, module.Options, run)


def part_of(part: GroupCommand) -> CliCommand:
    """Return a command of a group."""

    def run(options: Options, context: TerminalContext) -> int:
        part.run(options, context)
        return 0

    return _command(part.name, part.options, run)


def group_of(
    name: str, about: str, parts: Iterable[GroupCommand], alone: GroupCommand | None = None
) -> CliGroup:
    """Return a group of commands.

    Args:
        name: Its name.
        about: Its help.
        parts: Its commands.
        alone: The command that runs if none of them is given.
    """
    made = CliGroup(name, help=about, context_settings=SETTINGS)
    if alone is not None:
        one = part_of(alone)
        made.params, made.callback = one.params, _unless_invoked(one)
        made.invoke_without_command, made.no_args_is_help = True, False
    for part in parts:
        made.add_command(part_of(part))
    return made


def _unless_invoked(command: CliCommand) -> Callable[..., Any]:
    @click.pass_context
    def run(context: click.Context, /, **given: Any) -> None:
        if context.invoked_subcommand is None:
            context.invoke(command, **given)

    return run


def _command(name: str, options: type[Options], run: Callable[[Any, TerminalContext], int]) -> CliCommand:
    """Return a command with a parameter for each field and each common option."""

    @click.pass_context
    def command(context: click.Context, /, **given: Any) -> None:
        chosen = {name: given.pop(name) for name in list(given) if name in options.fields()}
        configured = _configure(name, options, chosen, context)
        given["quiet"] = given.get("json", False)
        with TerminalContext(**given) as surroundings, _naming(configured):
            status = run(_options(options, chosen), surroundings)
        end_like(status)

    return CliCommand(
        name,
        callback=command,
        params=[*_parameters(options)],
        help=text_of(options),
        context_settings=SETTINGS
        | {
            "ignore_unknown_options": options.passes_options or options.passes_unknown,
            "allow_interspersed_args": not options.passes_options,
        },
    )


def _configure(
    name: str, options: type[Options], chosen: dict[str, Any], context: click.Context
) -> list[configuration.Setting]:
    """Add options from the configuration file that the command line does not have; return them."""
    used = []
    for field, setting in configuration.settings(name, options, COMMANDS).items():
        source = context.get_parameter_source(field)
        given = source is not None and source.name not in {"DEFAULT", "DEFAULT_MAP"}
        if field == configuration.POLICY:
            # The last rule that matches a call counts, so those of the command line come last.
            chosen[field] = (*setting.value, *(chosen[field] or ()))
        elif not given:
            chosen[field] = setting.value
        else:
            continue
        used.append(setting)
    return used


@contextmanager
def _naming(configured: Sequence[configuration.Setting]) -> Iterator[None]:
    """Add the place in the configuration file to an error about an option that is set there."""
    try:
        yield
    except (UsageError, FilterError) as error:
        named = [setting for setting in configured if setting.key.rpartition(".")[2] in str(error)]
        if named and not isinstance(error, MissingExtra):
            places = ", ".join(f"{setting.key} in {setting.place}" for setting in named)
            raise UsageError(f"{error} ({places})") from error
        raise


def _show(result: Result, options: Options, context: TerminalContext) -> None:
    """Print the result with the verb's module of `render`, or as JSON."""
    context.end_progress()
    word = type(result).__module__.removeprefix("reenact.verbs.").partition(".")[0]
    name = f"reenact.cli.render.{word}"
    module = importlib.import_module(name) if importlib.util.find_spec(name) is not None else None
    if (context.json or module is None) and (tree := result.tree()) is not None:
        dump(tree)
    if module is not None:
        module.show(result, options, context)


def _options(options: type[Options], given: dict[str, Any]) -> Options:
    """Return the options for the values of the command line. Raises UsageError."""
    values = {name: value for name, value in given.items() if value is not None}
    # Before a command that accepts all options, click keeps the `--`.
    if values.get("command", ())[:1] == ["--"]:
        values["command"] = values["command"][1:]
    return options(**values)


def _parameters(options: type[Options]) -> Iterator[click.Parameter]:
    for name, info in options.fields().items():
        spelling = next((mark for mark in info.marks if isinstance(mark, Cli)), Cli())
        if spelling.offered:
            yield _parameter(name, info, spelling)
    for common in options.common:
        more: dict[str, Any] = {"type": _PATH} if common.name == "home" else {"is_flag": True}
        yield click.Option([common.name, f"--{_kebab(common.name)}"], help=common.help, **more)


def _parameter(name: str, info: OptionField, spelling: Cli) -> click.Parameter:
    """Return the parameter of one field."""
    default = None if info.required else info.default
    required = info.required or spelling.required
    if name == "ref" and info.required:
        default, required = LAST, False
    several = get_origin(info.kind) is tuple
    more: dict[str, Any] = {"metavar": spelling.metavar, "required": required}
    if default not in (None, ()) and not required:
        more["default"] = default.value if isinstance(default, Enum) else default
    if RECORDING in info.marks:
        more["shell_complete"] = _ids
    if spelling.argument:
        about = info.about.description
        return CliArgument(
            [name], about=about, nargs=-1 if several else 1, type=_type(info, spelling), **more
        )
    flag = f"--{_kebab(name)}"
    names = spelling.names or ((f"{flag}/--no-{_kebab(name)}",) if default is True else (flag,))
    if bool in choices(info.kind):
        more |= {"is_flag": True, "default": default}
    else:
        more |= {"multiple": several, "type": _type(info, spelling)}
    shown = more.get("default") not in (None, "", False, True) or default is True
    return click.Option([name, *names], help=info.about.description, show_default=shown, **more)


def _ids(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    found: list[Any] = importlib.import_module("reenact.cli.completion").ids(incomplete)
    return found


def _type(info: OptionField, spelling: Cli) -> Any:
    """Return click's type of a field, with the field's limits."""
    (kind,) = (each for each in choices(info.kind) if each is not type(None))
    kind = get_args(kind)[0] if get_origin(kind) is tuple else kind
    about = info.about
    if spelling.parser is not None:
        return spelling.parser
    if listed := words(kind):
        return click.Choice(listed)
    if kind is int and (about.ge, about.le) != (None, None):
        return click.IntRange(_whole(about.ge), _whole(about.le))
    if kind is float and (about.ge, about.le) != (None, None):
        return click.FloatRange(about.ge, about.le)
    return _PATH if kind is Path else kind


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def end_like(status: int) -> NoReturn:
    """Exit with the status or the signal of the recorded program."""
    if status < 0 and -status in _QUIET_DEATHS:
        sys.stdout.flush()
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    raise SystemExit(status if status >= 0 else 128 - status)
