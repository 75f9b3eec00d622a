"""The server does what its own document says, whatever is sent: tried by schemathesis, route by route."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

import reenact

pytest.importorskip("schemathesis")

import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup

from reenact.server.app import application
from reenact.server.settings import Settings

STREAM = "text/event-stream"
OPENS = {"/api/v1/sessions/start", "/api/v1/scrape"}
"""Each answer of these is a browser: tests/server/wire asks them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A server of a small store that asks for keys, the key of its admin, and the id of a recording."""
    home = tmp_path_factory.mktemp("home")
    with reenact.record("a small one", home=home) as recording:
        reenact.tool(lambda city: f"sun in {city}", name="weather")("Ulm")
    app = application(Settings(home, ("testserver",)))
    yield app, app.state.keys.make(role="admin")[1], recording.id
    app.state.jobs.close()
    app.state.keys.close()


@pytest.fixture
def document(made):
    app, _, _ = made
    document = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)
    # A stream goes on until who reads it has enough: no answer to compare with a document.
    document = document.exclude(
        lambda context: STREAM in str(context.operation.definition.raw.get("responses"))
    )
    return document.exclude(lambda context: context.operation.path in OPENS)


def test_every_answer_is_one_that_is_documented(document, made):
    tried(document, made, settings(max_examples=3, derandomize=True))


@pytest.mark.thorough
def test_every_answer_is_one_that_is_documented_many_times_over(document, made):
    tried(document, made, settings(max_examples=200))


def tried(document, made, often):
    """Ask each route what its document allows and what it does not; all that went wrong is told together."""
    _, key, id = made
    wrong = []
    for found, mode in itertools.product(document.get_all_operations(), GenerationMode):
        operation = found.ok()

        @settings(often, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case):
            # What was made up is rarely there: what reads is asked of a recording that is there, too.
            if case.method == "GET" and "/recordings/{id}" in case.path:
                case.path_parameters["id"] = id
            case.call_and_validate(headers={"Authorization": f"Bearer {key}"})

        # What takes nothing cannot be asked wrongly.
        try:
            with contextlib.suppress(Unsatisfiable):
                ask()
        except (AssertionError, FailureGroup) as error:
            wrong.append(f"{operation.method.upper()} {operation.path}: {error}")
    assert not wrong, "\n\n".join(wrong)
