"""How a question is written: without its secrets, and so that it can be read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reenact
from reenact.core.boundary import RecordingTurnstile, Run, perform
from reenact.core.model.event import Effect
from reenact.core.record.question import QuestionWriter
from reenact.core.redact import DEFAULT_RULES, Redactor

SECRET = "hunter2-hunter2-"


def asked(home: Path, *questions: dict[str, Any], secrets: Any = DEFAULT_RULES) -> bytes:
    """What the file holds after these questions to one tool; they also have to replay."""

    def ask_all() -> None:
        for question in questions:
            perform(Effect("tool", "ask", question), lambda: "ok")

    with reenact.record(home=home, secrets=secrets) as recording:
        ask_all()
    with reenact.replay(recording.id, home=home) as replay:
        ask_all()
    assert replay.verdict.faithful, str(replay.verdict)
    return Path(recording.path, "events.jsonl").read_bytes()


def test_a_place_that_names_a_secret_is_written_without_it(tmp_path: Path) -> None:
    with reenact.record(home=tmp_path) as recording, reenact.span("run"):
        perform(Effect("tool", f"api_key={SECRET}a", {"question": "why"}), lambda: "ok")
    written = Path(recording.path, "events.jsonl").read_bytes()
    assert SECRET.encode() not in written
    assert b"[[secret:" in written


def test_a_flag_and_its_secret_are_not_parted_by_what_is_stored_once(tmp_path: Path) -> None:
    command = ["curl", "-s", "https://host/a-path-that-is-long", "--api-key"]
    written = asked(tmp_path, *({"command": [*command, f"{SECRET}{n}", "-v"]} for n in "abc"))
    assert SECRET.encode() not in written
    assert written.count(b"[[secret:") == 3


def test_a_flag_and_its_secret_are_not_parted_where_the_rest_is_as_before(tmp_path: Path) -> None:
    before = {"command": ["tool", "--verbose", "x", *map(str, range(100))]}
    after = {"command": ["tool", "--verbose", "--api-key", f"{SECRET}a", *map(str, range(100))]}
    assert SECRET.encode() not in asked(tmp_path, before, after, before, after)


def test_a_secret_that_comes_into_a_long_text_later_is_hidden_from_then_on(tmp_path: Path) -> None:
    text = "the order was sent on Monday " * 40
    texts = [
        text,
        f"{text} password={SECRET}a&x=y {text}",
        f"{text} password={SECRET}a&x=y {text} more",
        text,
    ]
    assert SECRET.encode() not in asked(tmp_path, *({"body": each} for each in texts))


def test_a_name_and_a_value_in_two_arguments_tell_a_secret_together(tmp_path: Path) -> None:
    questions = [{"name": "x-api-key", "value": f"{SECRET}{n}", "more": "x" * 600} for n in "ab"]
    assert SECRET.encode() not in asked(tmp_path, *questions)


def test_headers_lose_their_secrets_though_most_are_as_before(tmp_path: Path) -> None:
    questions = [
        {"headers": {"accept": "*/*", "authorization": f"Bearer {SECRET}{n}", "content-length": str(n)}}
        for n in (1, 2, 2, 3)
    ]
    written = asked(tmp_path, *questions)
    assert SECRET.encode() not in written
    assert written.count(b"Bearer [[secret:") == 4


def test_a_pattern_of_the_user_may_look_beyond_one_argument(tmp_path: Path) -> None:
    rules = replace(DEFAULT_RULES, patterns=(r'"kind":"card","number":"(\d+)"',))
    with reenact.record(home=tmp_path, secrets=rules) as recording:
        perform(Effect("tool", "pay", {"kind": "card", "number": "8731902264509417"}), lambda: "ok")
    assert b"8731902264509417" not in Path(recording.path, "events.jsonl").read_bytes()


def test_a_secret_that_is_learnt_between_two_equal_questions_is_hidden_in_the_second() -> None:
    redactor = Redactor(salt=b"salt")
    questions = QuestionWriter(redactor)
    handler: Any = None
    root = Run(handler, RecordingTurnstile(), replaying=False).root
    scope = root.span(f"agent:{SECRET}a")
    args = {
        "headers": {"x-trace": f"{SECRET}a"},
        "id": f"{SECRET}a",
        "deep": {"a": [f"{SECRET}a"]},
        "list": [f"{SECRET}a"],
    }
    effect = Effect("tool", f"ask {SECRET}a", args)

    def written() -> bytes:
        return questions.line(effect, scope, number=1, ordinal=0, now=0.5, encode=lambda value: value)

    assert written().count(SECRET.encode()) == 6
    redactor.learn(f"{SECRET}a")
    assert SECRET.encode() not in written()


@pytest.mark.parametrize(
    "value",
    [
        "\udc80" * 300,
        "short \udc80",
        {"\udc80": "x"},
        {"a": "\udc80"},
        (1, 2),
        {"$set": "x"},
        [("a", 1)] * 80,
        {"value": "x"},
    ],
)
def test_what_json_has_no_word_for_is_asked_again_as_it_was(tmp_path: Path, value: Any) -> None:
    asked(tmp_path, {"it": value}, {"it": value}, {"it": "text " * 200}, {"it": value})


def test_a_question_is_no_difference_from_one_with_a_later_number() -> None:
    """Another thread takes a later number, and is faster."""
    run = Run(None, RecordingTurnstile(), replaying=False)  # type: ignore[arg-type]
    questions = QuestionWriter(Redactor(salt=b"salt"))
    effect = Effect("tool", "ask", {"items": ["one long item " * 30] * 3})

    def line(number: int) -> bytes:
        return questions.line(
            effect, run.root, number=number, ordinal=number, now=0.0, encode=lambda tree: tree
        )

    assert b"$items" not in line(6)
    assert b"$items" not in line(5)
    assert b'"$items":[5,' in line(7)
