"""The options in a configuration file, checked against the `Options` of the commands.

    home = "recordings"                # the folder of the recordings
    ignore = ["args.body.seed"]        # for each command that has the option (`SHARED`)

    [policy]
    refund = "refuse"                  # as --policy refund=refuse

    [verify]                           # a command, and its options
    workers = 4

Options are not listed here: names, types and limits are those of the models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_origin

from reenact.core import config
from reenact.core.config import ConfigurationFile
from reenact.core.dataclass import dataclass
from reenact.errors import UsageError
from reenact.verbs.fields import NotValid, OptionField, choices, field_of_annotation, words
from reenact.verbs.interface import Options
from reenact.verbs.marks import NEVER, SHARED, Cli, Configured, WireType

if TYPE_CHECKING:
    from reenact.core.config.positions import KeyPath

HOME, POLICY = "home", "policy"
TOP = (HOME, POLICY, *SHARED)
"""The keys beside the tables of commands."""

_TRUST_REASON = "is for files that you trust"
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Setting:
    """The value of an option, from a configuration file.

    Attributes:
        value: The value.
        place: `FILE:LINE:COLUMN`.
        key: Its key, such as `replay.ignore`.
    """

    value: Any
    place: str
    key: str


def settings(
    command: str, options: type[Options], commands: Iterable[str] | None = None
) -> dict[str, Setting]:
    """Return the options of a command that the configuration file sets, by their names.

    Args:
        command: The name of the command.
        options: Its options.
        commands: The names of all commands; without them, tables of unknown commands are accepted.

    Raises UsageError for the first setting that is not valid.
    """
    fields = options.fields()
    if not (POLICY in fields or any(map(configurable, fields.values()))) or (file := config.found()) is None:
        return {}
    unknown_keys(file, commands)
    chosen: dict[str, Setting] = {}
    for name in SHARED:
        if name in file.tree and name in fields:
            chosen[name] = _setting(file, (name,), fields[name])
    for key, path in _table(file, command, options):
        name, setting = _checked(file, command, options, key, path)
        chosen[name] = setting
    if POLICY in fields and (rules := _policy_of(file)):
        chosen[POLICY] = Setting(rules, file.place((POLICY,)), POLICY)
    return chosen


def _policy_of(file: ConfigurationFile) -> Any:
    """Return the rules of a file's table `policy`. Few files have one."""
    return import_module("reenact.core.replay.policy").policy_of(file) if POLICY in file.tree else ()


def problems(
    file: ConfigurationFile, commands: Mapping[str, type[Options]], names: Iterable[str]
) -> Iterator[str]:
    """Check a whole file; return each problem in one line.

    Args:
        file: The file.
        commands: The options of all commands whose packages are installed.
        names: The names of all commands.
    """
    checks: list[Any] = [lambda: unknown_keys(file, names), lambda: file.home]
    checks += [lambda: _policy_of(file)]
    for name, marked in SHARED.items():
        if name in file.tree:
            checks.append(
                lambda name=name, marked=marked: _setting(file, (name,), field_of_annotation(marked))
            )
    for command, options in commands.items():
        try:
            pairs = list(_table(file, command, options))
        except UsageError as error:
            yield str(error)
            continue
        for key, path in pairs:
            checks.append(lambda c=command, o=options, k=key, p=path: _checked(file, c, o, k, p))
    for check in checks:
        try:
            check()
        except UsageError as error:
            yield str(error)


def unknown_keys(file: ConfigurationFile, commands: Iterable[str] | None) -> None:
    """Raise UsageError for the first key at the top that is not known.

    Args:
        file: The file.
        commands: The names of all commands; None: each table may be that of a command.
    """
    known = [*TOP, *(commands or ())]
    for key, value in file.tree.items():
        if key not in known and (commands is not None or not isinstance(value, dict)):
            near = _near(key, known)
            hint = (
                f"did you mean {near}?" if near else f"the keys are {', '.join(TOP)}, and names of commands"
            )
            raise file.error((key,), f"there is no such setting; {hint}")


def field_of(key: str, fields: Mapping[str, OptionField]) -> str | None:
    """Return the name of the option that a key sets; None if there is none that a file may set."""
    name = key.replace("-", "_")
    for known, info in fields.items():
        if known.rstrip("_") == name and configurable(info):
            return known
    return None


def configurable(info: OptionField) -> bool:
    """Return True if a configuration file may set an option."""
    spelling = next((mark for mark in info.marks if isinstance(mark, Cli)), Cli())
    given = spelling.argument or spelling.required or not spelling.offered or info.required
    return not given and right_of(info) is not NEVER


def right_of(info: OptionField) -> Configured:
    """Return the right of a configuration file to set an option."""
    return next((mark for mark in info.marks if isinstance(mark, Configured)), Configured())


def _checked(
    file: ConfigurationFile, command: str, options: type[Options], key: str, path: KeyPath
) -> tuple[str, Setting]:
    """Return the name of an option, and its setting. Raises UsageError."""
    name = field_of(key, options.fields())
    if name is None:
        raise file.error(path, _unknown(key, command, options.fields()))
    return name, _setting(file, path, options.fields()[name])


def _table(file: ConfigurationFile, command: str, options: type[Options]) -> Iterator[tuple[str, KeyPath]]:
    table = file.tree.get(command, {})
    if not isinstance(table, dict):
        raise file.error((command,), f"a table is expected: [{command}], and its options below")
    for key in table:
        if "_" in key and key.replace("_", "-") in table:
            raise file.error((command, key), f"it is there already, as {key.replace('_', '-')}")
        if not options.reads_settings or field_of(key, options.fields()) is not None:
            yield key, (command, key)


def _setting(file: ConfigurationFile, path: KeyPath, info: OptionField) -> Setting:
    """Check one setting. Raises UsageError with its place."""
    given: Any = file.tree
    for part in path:
        given = given[part]
    try:
        value = replace(info, kind=_type_of(info)).valid(given)
    except NotValid as error:
        raise file.error((*path, *error.inside), _refusal(error, info), value=True) from None
    right = right_of(info)
    if not right.anyone or any(_needs_trust(word, right.unless) for word in _words_of(value)):
        file.need_trust(path, _TRUST_REASON)
    # The option's own type: a request may have another one.
    if right.path or Path in choices(info.kind):
        value = _beside(value, file.folder, right.words)
    place = file.place(path, value=True)
    return Setting(value, place, ".".join(map(str, path)))


def _type_of(info: OptionField) -> Any:
    """Return the type of a setting: that of a request if it lists values, else the option's."""
    wire = next((mark for mark in info.marks if isinstance(mark, WireType)), None)
    if wire is not None and get_origin(wire.type) is Literal:
        return wire.type
    return info.kind


def _beside(value: Any, folder: Path, words: tuple[str, ...]) -> Any:
    if isinstance(value, tuple):
        return tuple(_beside(each, folder, words) for each in value)
    if value is None or value in words:
        return value
    return folder / value if isinstance(value, Path) else str(folder / value)


def _words_of(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, (tuple, list)) else (str(value),)


def _needs_trust(word: str, unless: tuple[str, ...]) -> bool:
    return word in unless or word.rpartition("=")[2].strip() in unless


def _unknown(key: str, command: str, fields: Mapping[str, OptionField]) -> str:
    if key == POLICY and POLICY in fields:
        return f"rules are written below [{POLICY}], for all commands"
    if key.replace("-", "_") in {name.rstrip("_") for name in fields}:
        return f"it is given on the command line only: `reenact {command} --help`"
    known = [name.rstrip("_").replace("_", "-") for name, info in fields.items() if configurable(info)]
    near = _near(key, known)
    hint = f"did you mean {near}?" if near else f"its settings are {', '.join(known) or 'none'}"
    return f"{command} has no such option; {hint}"


def _near(key: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - for errors alone

    return next(iter(get_close_matches(key, [*known], 1)), None)


def _refusal(error: NotValid, info: OptionField) -> str:
    """Return the reason that a value is not valid, and what is expected."""
    shown = str(error.value) if isinstance(error.value, (date, time)) else repr(error.value)
    shown = shown.lower() if isinstance(error.value, bool) else shown
    shown = shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}…"
    if listed := words(_type_of(info)):
        near = _near(str(error.value), listed)
        return f"{shown} is not one of {', '.join(listed)}" + (f"; did you mean {near}?" if near else "")
    if error.limit:
        return f"{shown}: {error.limit}"
    return f"{shown} is no {'text in quotes' if error.inside else _expected(info.kind)}"


def _expected(annotation: Any) -> str:
    names = {bool: "truth value: true or false", int: "whole number", float: "number"}
    if get_origin(annotation) is tuple:
        return 'list of texts: ["…"]'
    return next((names[kind] for kind in choices(annotation) if kind in names), "text in quotes")
