"""Every route, given hostile recordings and hostile values: no 500, no traceback, no hang."""

from __future__ import annotations

import itertools
import json

import pytest

from reenact.server.app import application
from reenact.server.settings import Settings
from tests.hostile import corpus
from tests.hostile.walking import Asker, operations

VALUES = [
    "", "0", "-1", "9" * 400, "1e400", "nan", "true", "null", "[]", "{}", "%00", "%F0%9F%92%A9", "%ff%fe", "%ED%A0%80", "..",
    "..%2f..%2fetc%2fpasswd", "a" * 9000, "%27%22%3Bdrop%20table", "kind:model", "text%20~%20%22(a%7Caa)%2B%24%22",
    "(" * 400, "not%20" * 400, "a:b%20or%20" * 300 + "a:b", "%1b%5B2J", "last",
]  # fmt: skip
"""For a parameter, as it stands in an address."""

SENT: list[object] = [
    None, True, -1, 10**30, 1e308, "", "\ud800", "\0", "x" * 50_000, [], [[]] * 100, {}, {"": None}, {"kind": "report"},
    corpus.deep(200), {"key": "x" * 500}, {"cookies": [None]}, {"recordings": [None, 1, "\ud800"]},
]  # fmt: skip
"""As a whole body of JSON."""

RAW = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"a":' * 2000,
    b"PK\x03\x04",
    bytes(1000),
    b'"\\ud800"',
    b"1" * 5000,
    b"NaN",
]
"""As a body that is none."""


@pytest.fixture
def served(tmp_path):
    app = application(Settings(tmp_path / "home", ("localhost",)))
    # A server makes its document once, whatever is asked of it.
    app.openapi()
    ask = Asker(app, app.state.keys.make(role="admin")[1])
    with ask.client:
        yield app, ask


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return corpus.base(tmp_path_factory.mktemp("base"))


def named(app):
    """The routes that read one recording, and those that read all."""
    found = [one for one in operations(app) if one.method in {"GET", "HEAD"} and not one.streams]
    return (
        [one for one in found if "/recordings/{id}" in one.path],
        [one for one in found if "{" not in one.path and one.path.startswith("/api/")],
    )


def walked(app, ask, cases, lines, chosen):
    home = app.state.settings.home
    one, all_ = named(app)
    for number, case in enumerate(cases):
        id = f"{corpus.ID}{number}"
        fresh = [{**lines[0], "id": id}, *lines[1:]]
        case.make(home / "recordings" / id, fresh)
        for at, operation in enumerate(one):
            if chosen(number, at):
                ask(case.name, operation.method, operation.at(id))
    for operation in all_:
        for query in itertools.chain(
            [""], [f"?filter={value}" for value in ("tag:x", "kind:model", "text:a")]
        ):
            answer = ask("all of them", operation.method, operation.path + query)
            if operation.path.endswith("/recordings") and not query:
                assert answer.status_code == 200
    # Diffs of each with another.
    for number in range(len(cases)):
        if chosen(number, 0):
            ask(cases[number].name, "GET", f"/api/v1/diff?a={corpus.ID}{number}&b={corpus.ID}0")
    assert not ask.problems, f"{len(ask.problems)} problems:\n" + "\n".join(ask.problems)


@pytest.mark.timeout(600)
def test_no_route_is_harmed_by_a_hostile_recording(served, lines):
    app, ask = served
    cases = corpus.cases(12)
    walked(app, ask, cases, lines, lambda number, at: (number + at) % 8 == 0)
    assert ask.asked > 100


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_no_route_is_harmed_by_any_hostile_recording(served, lines):
    app, ask = served
    walked(app, ask, corpus.cases(None), lines, lambda *_: True)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_hostile_recordings_that_are_sent_are_taken_or_refused(served, lines):
    app, ask = served
    for case in [*corpus.GADGETS, *corpus.TEXTS, *corpus.BROKEN]:
        folder = app.state.settings.home / "sent" / case.name.replace("/", "_")[:80]
        case.make(folder, lines)
        events = folder / "events.jsonl"
        if events.is_file() and not events.is_symlink():
            ask(
                case.name,
                "PUT",
                f"/api/v1/recordings/{corpus.ID}/files/events.jsonl",
                content=events.read_bytes(),
            )
            ask(case.name, "GET", f"/api/v1/recordings/{corpus.ID}")
            ask(case.name, "DELETE", f"/api/v1/recordings/{corpus.ID}")
    for name, data in corpus.archives(lines).items():
        answer = ask(name, "POST", "/api/v1/recordings/import", content=data)
        assert answer.status_code in {201, 400, 409, 413, 422}, (name, answer.status_code)
        assert str(app.state.settings.home) not in answer.text
    assert ask("all of them", "GET", "/api/v1/recordings").status_code == 200
    assert not ask.problems, "\n".join(ask.problems)


def fuzzed(app, ask, values, sent, raw):
    for operation in operations(app):
        if operation.streams or operation.opens:
            continue
        what = "a hostile value"
        for name, value in itertools.product(operation.query, values):
            ask(what, operation.method, f"{operation.at(corpus.ID)}?{name}={value}")
        for name in [
            part[1:-1].partition(":")[0] for part in operation.path.split("/") if part.startswith("{")
        ]:
            for value in values:
                if value and "/" not in value:
                    ask(what, operation.method, operation.at(**{"id": corpus.ID, name: value}))
        if operation.method in {"POST", "PUT"}:
            for body in sent:
                data = json.dumps(body).encode()
                ask(
                    what,
                    operation.method,
                    operation.at(corpus.ID),
                    content=data,
                    headers={"Content-Type": "application/json"},
                )
            for data in raw:
                for kind in ("application/json", "application/x-protobuf", "multipart/form-data; boundary=x"):
                    ask(
                        what,
                        operation.method,
                        operation.at(corpus.ID),
                        content=data,
                        headers={"Content-Type": kind},
                    )
    assert not ask.problems, f"{len(ask.problems)} problems:\n" + "\n".join(ask.problems)


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_no_hostile_value_is_a_mistake_of_the_servers(served):
    app, ask = served
    fuzzed(app, ask, VALUES[::6], SENT[::6], RAW[::5])
    assert ask.asked > 500


@pytest.mark.thorough
@pytest.mark.timeout(3600)
def test_no_value_of_many_is_a_mistake_of_the_servers(served):
    app, ask = served
    fuzzed(app, ask, VALUES, SENT, RAW)
