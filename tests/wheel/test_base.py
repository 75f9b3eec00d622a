"""`pip install reenact` alone: small, and enough to record, replay and read."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from reenact.cli.interfaces import INTERFACES
from reenact.core.extras import EXTRAS
from reenact.verbs.registry import VERBS
from tests.wheel.conftest import ROOT, Installed

DIRECT, PACKAGES, BYTES = 5, 10, 20_000_000
PROGRAM = """\
import random
import reenact

@reenact.tool
def lookup(order):
    return {"order": order, "state": random.choice(["sent", "lost"])}

for order in ("A-1", "A-2"):
    print(lookup(order))
"""
MODULES = """
import importlib, pkgutil, reenact
failed = []
for folder in ("core", "run", "analysis", "verbs"):
    package = importlib.import_module(f"reenact.{folder}")
    for module in pkgutil.walk_packages(package.__path__, f"reenact.{folder}."):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            failed.append(f"{module.name}: {error.name or error}")
print(*failed, sep="\\n", end="")
"""
NEEDED = {
    ("browse",): "tui",
    ("debug", "last"): "tui",
    ("debug", "last", "--web"): "server",
    ("watch", "last"): "browser",
    ("console",): "server",
    ("serve",): "server",
    ("collect",): "server",
    ("harden", "script.py"): "browser",
    ("heals",): "browser",
    ("export-script", "last"): "browser",
    ("trust",): "sign",
    ("push", "last"): "team",
    ("pull", "last"): "team",
    ("sync",): "team",
    ("team", "projects"): "team",
    ("ship",): "ship",
    ("export", "last", "--otlp", "http://127.0.0.1:1"): "otel",
    ("import", "cassette.yaml"): "cassettes",
    ("record", "--proxy", "--", "true"): "proxy",
    ("verify", "last", "--engine", "ray"): "ray",
}
"""Commands, with the extra that each needs."""


@pytest.fixture(scope="module")
def base(wheel, tmp_path_factory):
    """The wheel without extras, with one recording."""
    installed = Installed(tmp_path_factory.mktemp("base"), wheel)
    (installed.folder / "prog.py").write_text(PROGRAM)
    (installed.folder / "cassette.yaml").write_text("interactions: []\nversion: 1\n")
    installed.environ |= {
        "REENACT_STORE": "postgresql://u@127.0.0.1:1/d",
        "REENACT_OBJECTS": f"file://{installed.folder}/objects",
    }
    installed.run("reenact", "record", "--name", "orders", "--", "python", "prog.py")
    return installed


def test_it_declares_few_dependencies():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert 0 < len(declared) <= DIRECT


def test_few_packages_are_installed_with_it(base):
    installed = {path.name.partition("-")[0] for path in base.packages.glob("*.dist-info")}
    assert {"reenact", "orjson", "rich"} <= installed
    assert len(installed - {"reenact"}) <= PACKAGES, sorted(installed)


def test_it_needs_little_room(base):
    own = sum(path.stat().st_size for path in (base.packages / "reenact").rglob("*.py"))
    assert 0 < own < base.size <= BYTES


def test_every_module_of_the_core_is_imported_without_an_extra(base):
    failed = base.run("python", "-c", MODULES).stdout.splitlines()
    assert [line for line in failed if line.startswith("reenact.core.")] == []
    # Each of the others is missing a package that an extra brings.
    known = {package for packages in EXTRAS.values() for package in packages}
    assert [line for line in failed if line.rpartition(": ")[2].partition(".")[0] not in known] == []


def test_a_program_is_recorded_replayed_listed_shown_forked_and_compared(base):
    assert "faithful" in base.run("reenact", "replay", "last").stderr
    (entry,) = json.loads(base.run("reenact", "list", "--json").stdout)
    assert (entry["name"], entry["steps"]) == ("orders", 2)
    assert "lookup" in base.run("reenact", "show", "last").stdout
    forked = base.run("reenact", "fork", entry["id"], "--at", "2", "--set", 'output.state = "found"')
    assert "found" in forked.stdout
    assert "found" in base.run("reenact", "diff", entry["id"], "last", status=1).stdout
    base.run("reenact", "verify", entry["id"])
    base.run("reenact", "diagnose", entry["id"])
    base.run("reenact", "rm", "last", "--yes")


def test_a_changed_program_departs(base):
    (base.folder / "prog.py").write_text(PROGRAM.replace('"A-2"', '"A-3"'))
    try:
        said = base.run("reenact", "replay", "last", status=1).stderr
        assert "CHANGED  step 2" in said
        assert '"A-3"' in said
    finally:
        (base.folder / "prog.py").write_text(PROGRAM)


def test_a_run_is_debugged_without_a_screen(base):
    said = base.run("reenact", "debug", "last", "--plain", given="next\nnext\nquit\n").stdout
    assert "lookup" in said


def test_the_help_lists_every_command_with_the_extra_that_it_needs(base):
    text = " ".join(base.run("reenact", "--help").stdout.replace("│", " ").split())
    assert [verb.name for verb in (*VERBS, *INTERFACES) if f" {verb.name} " not in text] == []
    assert "pip install 'reenact[server]'" in text


@pytest.mark.parametrize("words", NEEDED, ids=" ".join)
def test_a_command_that_needs_an_extra_says_so_in_one_line(base, words):
    extra = NEEDED[words]
    if words[0] == "ship":
        base.environ["REENACT_SERVER"] = "http://127.0.0.1:1"
    try:
        if words in {("browse",), ("debug", "last")}:
            said = on_a_terminal(base, *words)
        else:
            said = base.run("reenact", *words, status=2).stderr
    finally:
        base.environ.pop("REENACT_SERVER", None)
    (line,) = said.strip().splitlines()
    assert re.search(rf"needs the extra \"{extra}\": pip install 'reenact\[{extra}\]'$", line), line


def on_a_terminal(installed, *words):
    """What a command prints that needs a terminal."""
    code = (
        "import os, pty, sys\n"
        f"status = pty.spawn({[str(installed.python.with_name('reenact')), *words]!r})\n"
        "sys.exit(os.waitstatus_to_exitcode(status))"
    )
    return installed.run("python", "-c", code, status=2, given="").stdout


def test_a_browser_session_says_its_extra(base):
    said = base.run("python", "-c", "import reenact; reenact.Client", status=1).stderr.splitlines()[-1]
    assert said.endswith("a browser session needs the extra \"browser\": pip install 'reenact[browser]'")


def test_a_recording_that_cannot_be_sent_says_so_and_is_kept(base):
    base.environ["REENACT_SERVER"] = "http://127.0.0.1:1"
    try:
        said = base.run("reenact", "record", "--", "python", "prog.py").stderr
    finally:
        del base.environ["REENACT_SERVER"]
    assert "REENACT_SERVER needs the extra \"ship\": pip install 'reenact[ship]'" in said
    base.run("reenact", "show", "last")
