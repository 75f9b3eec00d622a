"""The options in a configuration file: those of the commands' models, and the rights of a stranger's file."""

from __future__ import annotations

import json
import re
from enum import Enum
from pathlib import Path
from types import UnionType
from typing import Literal, get_args, get_origin

import pytest

from reenact.cli.application import INTERFACES
from reenact.core import config
from reenact.errors import UsageError
from reenact.verbs import configuration
from reenact.verbs.configuration import configurable, right_of, settings
from reenact.verbs.interface import Options
from reenact.verbs.marks import NEVER, WireType
from reenact.verbs.registry import VERBS

MODELS = {verb.name: verb.module.Options for verb in (*VERBS, *INTERFACES)}
EVERY = [(command, name, info) for command, model in MODELS.items() for name, info in model.fields().items()]
PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes reenact.toml in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))

    def write(text, *, trusted=False):
        (tmp_path / "reenact.toml").write_text(text, encoding="utf-8")
        if trusted:
            config.trust(config.found())

    return write


def key(name):
    return name.rstrip("_").replace("_", "-")


def named(ids):
    return [f"{command}.{key(name)}" for command, name, *_ in ids]


def sample(info):
    """A value in TOML that the option takes, and that an untrusted file may not give where one may give others."""
    wire = next((mark for mark in info.marks if isinstance(mark, WireType)), None)
    kind = wire.type if wire is not None and get_origin(wire.type) is Literal else info.kind
    kind = (
        next(each for each in get_args(kind) if each is not type(None))
        if isinstance(kind, UnionType)
        else kind
    )
    kind = next(each for each in get_args(kind)) if "Optional" in str(kind) else kind
    unless = right_of(info).unless
    if get_origin(kind) is Literal:
        return json.dumps(unless[0] if unless else get_args(kind)[0])
    if get_origin(kind) is tuple:
        return json.dumps(list(unless) or ["order"])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return json.dumps(next(iter(kind)).value)
    return {bool: "true", int: "5", float: "5.5"}.get(kind, '"order"')


SETTABLE = [each for each in EVERY if configurable(each[2])]
GUARDED = [each for each in SETTABLE if not right_of(each[2]).anyone or right_of(each[2]).unless]
# A verb that reads settings of its own refuses a key itself.
REFUSED = [each for each in EVERY if right_of(each[2]) is NEVER and not MODELS[each[0]].reads_settings]


@pytest.mark.parametrize(("command", "name", "info"), SETTABLE, ids=named(SETTABLE))
def test_a_trusted_file_sets_every_option(write, command, name, info):
    write(f"[{command}]\n{key(name)} = {sample(info)}", trusted=True)
    found = settings(command, MODELS[command])
    assert [*found] == [name]
    assert found[name].place.startswith("reenact.toml:2:")
    assert info.valid(found[name].value) == found[name].value


@pytest.mark.parametrize(("command", "name", "info"), GUARDED, ids=named(GUARDED))
def test_a_file_that_is_not_trusted_runs_sends_and_writes_nothing(write, command, name, info):
    write(f"[{command}]\n{key(name)} = {sample(info)}")
    with pytest.raises(
        UsageError, match=rf"reenact\.toml:2:\d+: {command}\.{key(name)}: it is for files that you trust"
    ):
        settings(command, MODELS[command])


@pytest.mark.parametrize(("command", "name", "info"), REFUSED, ids=named(REFUSED))
def test_consent_and_addresses_are_for_the_command_line_alone(write, command, name, info):
    write(f"[{command}]\n{key(name)} = {sample(info)}", trusted=True)
    if (
        not any(map(configurable, MODELS[command].fields().values()))
        and "policy" not in MODELS[command].fields()
    ):
        assert settings(command, MODELS[command]) == {}
        assert any(f"{command}.{key(name)}: it is given on" in line for line in problems())
        return
    with pytest.raises(
        UsageError, match=r"is given on the command line only|rules are written below \[policy\]"
    ):
        settings(command, MODELS[command])


def problems():
    return list(configuration.problems(config.found(), MODELS, [*MODELS]))


def test_dangerous_options_are_refused_even_of_trusted_files():
    assert {
        "rm.yes", "prune.yes", "heals.write", "push.store", "push.objects", "pull.store", "sync.store", "fsck.store",
        "export.otlp", "export.otlp-header", "verify.address", "serve.host", "serve.keyless", "serve.running",
        "serve.run-foreign", "serve.browse-private", "collect.host", "export.force", "keep.force",
    } <= set(named(REFUSED))  # fmt: skip


def test_the_options_that_any_file_may_set_are_those_of_the_page():
    section = PAGE.partition("<!-- any file -->")[2].partition("<!-- end -->")[0]
    anyone = [each for each in SETTABLE if right_of(each[2]).anyone]
    assert sorted(re.findall(r"`([\w.-]+)`", section)) == sorted(named(anyone))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[replay]\nlive = 'tool'", "2:8: replay.live: 'tool' is no list of texts"),
        ("[replay]\nignore = ['a', 3]", "2:16: replay.ignore.1: 3 is no text in quotes"),
        ("[replay]\non-divergence = 'relign'", "is not one of raise, realign, live; did you mean realign?"),
        ("[replay]\non_divergence = 'relign'", "2:17: replay.on_divergence: 'relign'"),
        ("[replay]\ninored = []", "2:1: replay.inored: replay has no such option; did you mean ignore?"),
        ("[replay]\nref = 'last'", "2:1: replay.ref: it is given on the command line only"),
        ("[replay]\npolicy = ['a=live']", "rules are written below [policy]"),
        ("replay = 3", "1:1: replay: a table is expected: [replay]"),
        ("[replai]\nx = 1", "1:2: replai: there is no such setting; did you mean replay?"),
        ("ignore = 'order'", "1:10: ignore: 'order' is no list of texts"),
        ("[replay.live]\nx = 1", "1:9: replay.live: {'x': 1} is no list of texts"),
    ],
)
def test_a_setting_that_is_not_valid_is_one_line_with_its_place(write, text, told):
    write(text)
    with pytest.raises(UsageError) as caught:
        settings("replay", MODELS["replay"], MODELS)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("reenact.toml:")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[verify]\nworkers = -1", "2:11: verify.workers: -1: it should be greater than or equal to 0"),
        ("[verify]\nworkers = true", "verify.workers: true is no whole number"),
        ("[verify]\ntimeout = 2026-01-02", "verify.timeout: 2026-01-02 is no number"),
        ("[verify]\ntimeout = nan", "verify.timeout: nan: it should be a finite number"),
        ("[verify]\ntimeout = -inf", "verify.timeout: -inf: it should be a finite number"),
        ("[verify]\ntimeout = inf", "2:11: verify.timeout: inf: it should be a finite number"),
        ("[verify]\ntimeout = 1" + "0" * 400, "is no number"),
        (
            "[verify]\nfrom-zero = true\nfrom_zero = false",
            "3:1: verify.from_zero: it is there already, as from-zero",
        ),
        ("[verify]\nworkers = '4'", "verify.workers: '4' is no whole number"),
        ("[verify]\nresume = 'yes'", "verify.resume: 'yes' is no truth value: true or false"),
        ("[verify]\nengine = 'rai'", "verify.engine: 'rai' is not one of local, ray; did you mean ray?"),
    ],
)
def test_limits_and_types_are_those_of_the_option(write, text, told):
    write(text, trusted=True)
    with pytest.raises(UsageError) as caught:
        settings("verify", MODELS["verify"])
    assert told in str(caught.value)


def test_an_option_of_all_commands_is_the_default_of_each_that_has_it(write):
    write("ignore = ['order']\n[fork]\nignore = ['stdout']")
    assert settings("replay", MODELS["replay"])["ignore"].value == ("order",)
    assert settings("fork", MODELS["fork"])["ignore"].value == ("stdout",)
    assert settings("rm", MODELS["rm"]) == {}


def test_paths_begin_in_the_folder_of_the_file(write, tmp_path, monkeypatch):
    write("[verify]\njunit = 'out/verify.xml'\n[record]\nfiles = ['data', 'off']", trusted=True)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert settings("verify", MODELS["verify"])["junit"].value == tmp_path / "out/verify.xml"
    assert settings("record", MODELS["record"])["files"].value == (str(tmp_path / "data"), "off")


def test_all_problems_of_a_file_are_found_at_once(write):
    write("home = 1\nlive = 2\n[policy]\na = 3\n[list]\nlimit = 0\n[show]\nx = 1\n[nothing]")
    found = problems()
    assert [line.split(": ")[1] for line in found] == [
        "nothing",
        "home",
        "policy.a",
        "live",
        "list.limit",
        "show.x",
    ]


def test_without_a_file_nothing_is_set(write):
    assert settings("replay", MODELS["replay"]) == {}
    assert issubclass(MODELS["replay"], Options)
