"""`reenact config`: the configuration in force, and the origin of each value."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any, ClassVar

from rich.text import Text

from reenact.analysis.views.text import visible
from reenact.cli import present
from reenact.cli.interfaces import INTERFACES
from reenact.cli.printing import dump, say
from reenact.core import config
from reenact.core.config import ConfigurationFile
from reenact.core.dataclass import dataclass
from reenact.core.redact.names import Names
from reenact.core.redact.rules import DEFAULT_RULES
from reenact.core.store.local import home
from reenact.errors import MissingExtra, UsageError
from reenact.verbs import configuration, interface, marks
from reenact.verbs.configuration import HOME, POLICY
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, Shown
from reenact.verbs.marks import SHARED, Cli
from reenact.verbs.registry import VERBS, Verb

UNABLE = 2
DEFAULT = "default"
VARIABLES = "REENACT_"
HIDDEN = "(hidden)"


@dataclass(frozen=True)
class Origins:
    """One value of the configuration, and its origin.

    Attributes:
        key: The key in a configuration file, or the name of an environment variable.
        value: The value.
        origin: `default`, a place in a file, or an environment variable.
    """

    key: str
    value: Any
    origin: str


class Options(interface.Options):
    """Show the configuration in force, and the origin of each value.

    It is read from `reenact.toml`, or `[tool.reenact]` of `pyproject.toml`, in this folder or one above it. Options of
    the command line and environment variables win over it.

    Exit status: 2 if the file is not valid; each problem is one line with file, line and column.
    """

    common: ClassVar = (marks.JSON,)

    command: Annotated[
        str,
        Field(description="Show the options of this command, defaults too."),
        Cli(argument=True, metavar="[COMMAND]"),
    ] = ""
    all: Annotated[
        bool,
        Field(description="Show the options of all commands, defaults too."),
        Cli(names=("--all", "-a")),
        marks.NEVER,
    ] = False
    trust: Annotated[
        bool,
        Field(description="Trust the file's present content: it may let calls run, and write elsewhere."),
        marks.NEVER,
    ] = False


def run(options: Options, context: Context) -> Shown:
    """Show the configuration. Raises UsageError for an unknown command."""
    verbs = {verb.name: verb for verb in (*VERBS, *INTERFACES)}
    if options.command and options.command not in verbs:
        raise UsageError(f"there is no command {options.command!r}; `reenact --help` lists them")
    file = config.found(unowned=options.trust)
    if options.trust:
        if file is None:
            raise UsageError(
                "there is no reenact.toml here or above, and no [tool.reenact] in a pyproject.toml"
            )
        config.trust(file)
        say(f"{file.name} is trusted, as long as its content stays the same")
        return Shown()
    models = dict(_models(verbs))
    found = list(configuration.problems(file, models, [*verbs])) if file is not None else []
    for problem in found:
        say(f"reenact: {problem}")
    if found:
        return Shown(UNABLE)
    shown = [options.command] if options.command else [*models]
    rows = list(_rows(file, {name: models[name] for name in shown if name in models}))
    if not options.all and not options.command and not context.quiet:
        rows = [row for row in rows if row.origin != DEFAULT or row.key == HOME]
    _show(rows, file, as_json=context.quiet, short=not options.all and not options.command)
    return Shown()


def _models(verbs: Mapping[str, Verb]) -> Iterator[tuple[str, type[interface.Options]]]:
    """Return the options of all commands whose packages are installed."""
    for name, verb in verbs.items():
        try:
            yield name, verb.module.Options
        except (MissingExtra, ImportError):
            continue


def _rows(file: ConfigurationFile | None, models: Mapping[str, type[interface.Options]]) -> Iterator[Origins]:
    yield Origins(HOME, str(home()), _of_home(file))
    if file is not None:
        yield from (
            Origins(f"{POLICY}.{target}", mode, file.place((POLICY, target)))
            for target, mode in file.tree.get(POLICY, {}).items()
        )
        yield from (
            Origins(name, file.tree[name], file.place((name,), value=True))
            for name in SHARED
            if name in file.tree
        )
    for command, options in models.items():
        settings = configuration.settings(command, options)
        for name, info in options.fields().items():
            if not configuration.configurable(info):
                continue
            key = f"{command}.{name.rstrip('_').replace('_', '-')}"
            setting = settings.get(name)
            value = info.default if setting is None else setting.value
            yield Origins(key, value, DEFAULT if setting is None else setting.place)
    yield from _environment()


def _of_home(file: ConfigurationFile | None) -> str:
    if os.environ.get("REENACT_HOME"):
        return "REENACT_HOME"
    return file.place((HOME,), value=True) if file is not None and file.home is not None else DEFAULT


def _environment() -> Iterator[Origins]:
    """Yield Reenact's environment variables, without the values of possible secrets."""
    names = Names(DEFAULT_RULES)
    for name, value in sorted(os.environ.items()):
        if name.startswith(VARIABLES) and value:
            secret = names.variable(name) or name.endswith("_KEY") or "@" in value
            yield Origins(name, HIDDEN if secret else value, "environment")


def _show(rows: list[Origins], file: ConfigurationFile | None, *, as_json: bool, short: bool) -> None:
    if as_json:
        about = None if file is None else {"path": str(file.path), "trusted": file.trusted}
        dump({"file": about, "values": [{**asdict(row), "value": _plain(row.value)} for row in rows]})
        return
    table = present.table("key", "value", "origin")
    for row in rows:
        table.add_row(
            Text(visible(row.key)),
            Text(visible(_text(row.value))),
            Text(visible(row.origin)),
        )
    present.show(table)
    if file is None:
        say("no configuration file: no reenact.toml here or above, and no [tool.reenact] in a pyproject.toml")
    elif short:
        trusted = "trusted" if file.trusted else "not trusted"
        say(f"from {file.name} ({trusted}); --all shows the defaults too")


def _plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return (
        value
        if value is None or isinstance(value, (bool, int, float))
        else str(getattr(value, "value", value))
    )


def _text(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, list):
        return ", ".join(map(str, plain))
    return "" if plain is None else str(plain).lower() if isinstance(plain, bool) else str(plain)
