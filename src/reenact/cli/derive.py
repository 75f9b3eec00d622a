"""Make the command of a verb from the fields of its `Options`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, NoReturn, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic.fields import FieldInfo

from reenact.cli import present
from reenact.cli.context import Context
from reenact.cli.options import ids
from reenact.cli.panels import COMMANDS, panel_of
from reenact.core import system
from reenact.errors import FilterError, MissingExtra, UsageError
from reenact.verbs import configuration
from reenact.verbs.interface import RECORDING, Cli, Options, Result
from reenact.verbs.registry import Verb

_CONTEXT = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)

LAST = "last"
"""The recording that is meant where none is named: the newest."""

_QUIET_DEATHS = system.signals("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")


def add(app: typer.Typer, verb: Verb) -> None:
    """Add the command of a verb to the application."""
    options = verb.module.Options
    settings = {
        "ignore_unknown_options": options.passes_options or options.passes_unknown,
        "allow_interspersed_args": not options.passes_options,
    }
    app.command(
        verb.name, context_settings=settings, help=_help(options), rich_help_panel=panel_of(verb.name)
    )(_command(verb))


def _help(options: type[Options]) -> str:
    """Return the docstring with each paragraph on one line: the terminal has another width."""
    paragraphs = (inspect.getdoc(options) or "").split("\n\n")
    return "\n\n".join(one if one.startswith("[bold]") else one.replace("\n", " ") for one in paragraphs)


def _command(verb: Verb) -> Callable[..., None]:
    """Return a function for typer, with a parameter for each field and each common option."""
    options = verb.module.Options

    def command(context: typer.Context, **given: Any) -> None:
        chosen = {name: given.pop(name) for name in list(given) if name in options.model_fields}
        configured = _configure(verb.name, options, chosen, context)
        given["quiet"] = given.get("json", False)
        with Context(**given) as surroundings, _naming(configured):
            asked = _options(options, chosen)
            result = verb.module.run(asked, surroundings)
        _show(result, asked, surroundings)
        end_like(result.status)

    command.__name__ = verb.name.replace("-", "_")
    command.__doc__ = options.__doc__
    vars(command)["__signature__"] = inspect.Signature([_CONTEXT, *_parameters(options)])
    return command


def _configure(
    name: str, options: type[Options], chosen: dict[str, Any], context: typer.Context
) -> list[configuration.Setting]:
    """Take options that the command line lacks from the configuration file; return these."""
    used = []
    for field, setting in configuration.settings(name, options, COMMANDS).items():
        source = context.get_parameter_source(field)
        given = source is not None and source.name not in {"DEFAULT", "DEFAULT_MAP"}
        if field == configuration.POLICY:
            # The last rule that names a call holds.
            chosen[field] = (*setting.value, *(chosen[field] or ()))
        elif not given:
            chosen[field] = setting.value
        else:
            continue
        used.append(setting)
    return used


@contextmanager
def _naming(configured: Sequence[configuration.Setting]) -> Iterator[None]:
    """Add its place in the configuration file to an error about an option that is set there."""
    try:
        yield
    except (UsageError, FilterError) as error:
        named = [setting for setting in configured if setting.key.rpartition(".")[2] in str(error)]
        if named and not isinstance(error, MissingExtra):
            places = ", ".join(f"{setting.key} in {setting.place}" for setting in named)
            raise UsageError(f"{error} ({places})") from error
        raise


def _show(result: Result, options: Options, context: Context) -> None:
    """Print the result by the module for results of its verb, or as JSON."""
    word = type(result).__module__.removeprefix("reenact.verbs.").partition(".")[0]
    name = f"reenact.cli.render.{word}"
    module = importlib.import_module(name) if importlib.util.find_spec(name) is not None else None
    if (context.json or module is None) and (tree := result.tree()) is not None:
        present.dump(tree)
    if module is not None:
        module.show(result, options, context)


def _options(options: type[Options], given: dict[str, Any]) -> Options:
    """Return the options for the values of the command line. Raises UsageError."""
    values = {name: value for name, value in given.items() if value is not None}
    # In front of a command that takes all options, `--` is still there.
    if values.get("command", ())[:1] == ["--"]:
        values["command"] = values["command"][1:]
    return options.of(values)


def _parameters(options: type[Options]) -> Iterator[inspect.Parameter]:
    for name, info in options.model_fields.items():
        spelling = next((mark for mark in info.metadata if isinstance(mark, Cli)), Cli())
        if spelling.offered:
            yield _parameter(name, info, spelling)
    for common in options.common:
        kind: Any = Path | None if common.name == "home" else bool
        default = None if common.name == "home" else False
        flag = typer.Option(f"--{_kebab(common.name)}", help=common.help, show_default=False)
        yield _keyword(common.name, Annotated[kind, flag], default)


def _parameter(name: str, info: FieldInfo, spelling: Cli) -> inspect.Parameter:
    """Return the parameter of one field."""
    kind: Any = info.annotation
    default = None if info.is_required() else info.get_default()
    required = info.is_required() or spelling.required
    if name == "ref" and info.is_required():
        default, required = LAST, False
    if get_origin(kind) is tuple:
        kind, default = GenericAlias(list, get_args(kind)[0]), list(default or ()) or None
        kind = kind if required else kind | None
    if required and type(None) in get_args(kind):
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    more: dict[str, Any] = {
        "help": info.description,
        "metavar": spelling.metavar,
        "parser": spelling.parser,
        "show_default": not required and default is not None and default != "",
    }
    for mark in info.metadata:
        if isinstance(mark, Ge):
            more["min"] = mark.ge
        elif isinstance(mark, Le):
            more["max"] = mark.le
    if RECORDING in info.metadata:
        more["autocompletion"] = ids
    if spelling.argument:
        found = typer.Argument(**more)
    else:
        flag = f"--{_kebab(name)}"
        names = spelling.names or ((f"{flag}/--no-{_kebab(name)}",) if default is True else (flag,))
        found = typer.Option(*names, **more)
    return _keyword(name, Annotated[kind, found], inspect.Parameter.empty if required else default)


def _keyword(name: str, kind: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def end_like(status: int) -> NoReturn:
    """Exit with the status or the signal of the recorded program, so that its parent sees both."""
    if status < 0 and -status in _QUIET_DEATHS:
        sys.stdout.flush()
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    raise SystemExit(status if status >= 0 else 128 - status)
