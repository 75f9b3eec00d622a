"""The server does what its own document says, whatever is sent: tried by schemathesis, route by route."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import just

import reenact

pytest.importorskip("schemathesis")

import schemathesis
from schemathesis import GenerationMode
from schemathesis.checks import negative_data_rejection, positive_data_acceptance
from schemathesis.core.failures import FailureGroup

from reenact.server.app import application
from reenact.server.settings import Settings

STREAM = "text/event-stream"
UNSHRUNK = (Phase.explicit, Phase.generate)
"""A failure is shown as it was drawn: shrinking the order of a job takes minutes."""


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
    return document.exclude(lambda context: left_out(context.operation))


def left_out(operation):
    """What schemathesis cannot ask: streams without an end, a media type of our own, and what opens a browser."""
    told = operation.definition.raw
    bodies = told.get("requestBody", {}).get("content", {})
    return (
        STREAM in str(told.get("responses"))
        or any("vnd.reenact" in kind for kind in bodies)
        or operation.path.endswith(("/sessions/start", "/agents/start", "/scrape"))
    )


def test_every_answer_is_one_that_is_documented(document, made):
    tried(document, made, settings(max_examples=2, derandomize=True))


@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_every_answer_is_one_that_is_documented_many_times_over(document, made):
    tried(document, made, settings(max_examples=40))


def tried(document, made, often):
    """Ask each route what its document allows and what it does not; all that went wrong is told together."""
    wrong = []
    for found, mode in itertools.product(document.get_all_operations(), GenerationMode):
        operation = found.ok()
        strategy = operation.as_strategy(generation_mode=mode)
        quietly = settings(
            often, deadline=None, database=None, phases=UNSHRUNK, suppress_health_check=list(HealthCheck)
        )
        # What takes nothing cannot be asked wrongly.
        try:
            with contextlib.suppress(Unsatisfiable):
                quietly(given(strategy, just(mode), just(made))(asked))()
        except (AssertionError, FailureGroup) as error:
            wrong.append(f"{operation.method.upper()} {operation.path}: {error}")
    assert not wrong, "\n\n".join(wrong)


def asked(case, mode, made):
    """One question, and whether its answer is one that is documented."""
    _, key, id = made
    # What was made up is rarely there: what reads is asked of a recording that is there, too.
    if mode is GenerationMode.POSITIVE and case.method == "GET" and "/recordings/{id}" in case.path:
        case.path_parameters["id"] = id
    sent = {"headers": {"Authorization": f"Bearer {key}"}}
    answer = case.call(**sent)
    # The guard has not read what is too long: nothing of it is compared with the document.
    if answer.status_code == 413:
        return
    # Why bytes are no recording no schema can say: those are refused with 400. Parameters that nobody knows are let be.
    let = [positive_data_acceptance, *([negative_data_rejection] if case.method == "GET" else [])]
    case.validate_response(answer, excluded_checks=let, transport_kwargs=sent)
