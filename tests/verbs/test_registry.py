"""A verb is one file and one line of the registry: the rest follows from its options."""

from __future__ import annotations

import dataclasses
import inspect
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

import reenact
from reenact.cli import main
from reenact.cli.interfaces import INTERFACES
from reenact.server import orders
from reenact.server.work import JobContext, work
from reenact.verbs import interface, marks
from reenact.verbs.registry import VERBS, Verb

GREET = Verb("greet", "tests.verbs.greeting", job=True)
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def greet(tmp_path, monkeypatch):
    """The verb `greet` is registered, and there is a recording; returns its id."""
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    VERBS.append(GREET)
    with reenact.record("support") as recording:
        pass
    yield recording.id
    VERBS.remove(GREET)


def test_a_registered_verb_is_a_command(greet, capsys):
    assert main(["greet", greet, "-t", "1"]) == 0
    told = capsys.readouterr()
    assert (json.loads(told.out), told.err) == ({"greeting": "hello support"}, "greeted\n")
    assert main(["greet", "last", "--words", "good", "--words", "day", "--shout", "--json"]) == 3
    told = capsys.readouterr()
    assert (json.loads(told.out), told.err) == ({"greeting": "GOOD DAY SUPPORT GOOD DAY SUPPORT"}, "")


def test_its_options_are_checked_and_its_help_is_that_of_its_fields(greet, capsys):
    assert main(["greet", greet, "--times", "0"]) == 2
    assert "--times" in capsys.readouterr().err
    assert main(["greet", "--help"]) == 0
    told = re.sub(r"\s+", " ", capsys.readouterr().out)
    for text in (
        "Greet a recording.",
        "Exit status: 3",
        "How often. [at least 1; default: 2]",
        "--home",
        "--json",
    ):
        assert text in told
    assert main(["--help"]) == 0
    assert "Greet a recording." in capsys.readouterr().out


def test_it_is_a_job_with_limits_and_without_what_is_local(greet, tmp_path):
    order = orders.order_of(GREET)
    asked = order(kind="greet", recording=greet, options={"times": 3})
    assert (asked.ids, asked.runs) == ([greet], False)
    out = io.BytesIO()
    work(asked, JobContext(tmp_path / "home", out=out, files=tmp_path, quiet=True))
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert told == [
        {"done": 1, "total": 1, "label": "greeted"},
        {"result": {"greeting": "hello support hello support hello support"}},
    ]
    for wrong in ({"times": 10}, {"shout": True}, {"words": [""]}, {"words": ["x" * 1001]}, {"other": 1}):
        with pytest.raises(ValidationError):
            order(kind="greet", recording=greet, options=wrong)
    for wrong in ("../etc", "last/", "", "a" * 101):
        with pytest.raises(ValidationError):
            order(kind="greet", recording=wrong)


def test_a_path_is_offered_to_no_job():
    class Options(interface.Options):
        ref: marks.Ref
        output: Path | None = None

    module = type("Module", (), {"Options": Options})
    verb = Verb("leak", "no.such.module", job=True)
    vars(verb)["module"] = module
    with pytest.raises(TypeError, match="leak: output is a path"):
        orders.order_of(verb)


@pytest.mark.thorough
def test_it_is_in_the_document_of_the_server(tmp_path):
    code = (
        "from reenact.verbs import registry\n"
        "registry.VERBS.append(registry.Verb('greet', 'tests.verbs.greeting', job=True, routes=True))\n"
        "from reenact.server import openapi\n"
        "print(openapi.document())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=DOCS.parent, capture_output=True, text=True, check=True
    )
    document = json.loads(done.stdout)
    assert document["components"]["schemas"]["GreetOptions"]["properties"].keys() == {"words", "times"}
    body = document["paths"]["/api/v1/jobs"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"$ref": "#/components/schemas/Greet"} in body["oneOf"]
    route = document["paths"]["/api/v1/recordings/{id}/greeting"]["get"]
    assert route["description"] == "A greeting over the network."
    given = {one["name"]: one["schema"] for one in route["parameters"]}
    assert given.keys() == {"id", "word", "times"}
    assert (given["times"]["minimum"], given["times"]["maximum"], given["times"]["default"]) == (1, 9, 2)


@pytest.mark.parametrize("verb", [*VERBS, *INTERFACES], ids=lambda verb: verb.name)
def test_every_verb_is_whole_and_documented(verb):
    module = verb.module
    assert issubclass(module.Options, interface.Options)
    assert list(inspect.signature(module.run).parameters) == ["options", "context"]
    fields = module.Options.fields()
    assert [name for name, info in fields.items() if not info.about.description] == []
    assert undocumented(verb) == []


def test_a_new_verb_is_missed_in_the_documentation():
    assert undocumented(dataclasses.replace(GREET)) == ["reenact greet"]


def undocumented(verb):
    """The commands that the page of the command line leaves out."""
    page = (DOCS / "command-line.md").read_text()
    return [] if re.search(rf"reenact {verb.name}\b", page) else [f"reenact {verb.name}"]
