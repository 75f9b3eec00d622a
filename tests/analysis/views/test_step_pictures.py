"""The pictures of a step: in its question, wherever a provider puts them, and in its answer."""

from __future__ import annotations

import base64
import io
import json

import pytest
from PIL import Image

import reenact
from reenact.analysis.pages.blocks import StaticPage
from reenact.analysis.pages.html import page_html
from reenact.analysis.report.exported import conversation
from reenact.analysis.views.step_pictures import picture_kind, pictures, views
from reenact.analysis.views.transcript import Talk
from reenact.core.query.facts import RecordingFacts


def picture(colour, kind="PNG"):
    made = io.BytesIO()
    Image.new("RGB", (12, 8), colour).save(made, kind)
    return made.getvalue()


RED, BLUE = picture("red"), picture("blue", "JPEG")
TEXT = {"type": "text", "text": "What is it?"}


def in_base64(data):
    return base64.b64encode(data).decode()


@reenact.tool(kind="model", name="vision")
def model(messages):
    return {"role": "assistant", "content": "A box."}


@reenact.tool(kind="http", name="POST api.example.com/v1/messages")
def post(body):
    return {"status": 200}


@reenact.tool
def shot():
    return {"images": [{"data": BLUE}]}


def user(*parts):
    return {"role": "user", "content": [TEXT, *parts]}


def facts_of(act, home):
    with reenact.record("vision", home=home) as made:
        act()
    return RecordingFacts(reenact.load(made.path))


PARTS = {
    "openai": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{in_base64(RED)}"}},
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": in_base64(RED)},
    },
    "google": {"inline_data": {"mime_type": "image/png", "data": RED}},
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_picture_of_a_prompt_is_found_as_each_provider_sends_it(tmp_path, part):
    facts = facts_of(lambda: model([user(part)]), tmp_path)
    (found,) = pictures(facts, facts.steps[0])
    assert (found.kind, found.data) == ("png", RED)
    (view,) = views(facts, facts.steps[0])
    assert (view.asked, view.size) == (True, len(RED))


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_conversation_has_the_pictures_of_a_prompt_at_their_message(tmp_path, part):
    facts = facts_of(lambda: model([{"role": "system", "content": "Look."}, user(part)]), tmp_path)
    items = Talk(facts).page(1, 1, [0]).items
    assert [(item.role, item.pictures) for item in items] == [
        ("system", ()),
        ("user", (0,)),
        ("assistant", ()),
    ]


def test_a_conversation_has_the_pictures_that_a_tool_gave(tmp_path):
    facts = facts_of(shot, tmp_path)
    (item,) = Talk(facts).page(1, 1, [0]).items
    assert item.pictures == (0,)


def test_a_picture_in_a_text_of_json_is_found(tmp_path):
    facts = facts_of(lambda: post(json.dumps({"messages": [user(PARTS["openai"])]})), tmp_path)
    assert [one.data for one in pictures(facts, facts.steps[0])] == [RED]


def test_a_picture_that_the_call_before_had_is_not_shown_again(tmp_path):
    def act():
        model([user(PARTS["openai"])])
        model(
            [
                user(PARTS["openai"]),
                {"role": "assistant", "content": "A box."},
                user(PARTS["google"] | {"type": "x"}),
            ]
        )
        model([user(PARTS["openai"]), user({"inline_data": {"data": BLUE}})])

    facts = facts_of(act, tmp_path)
    assert [[one.data for one in pictures(facts, step)] for step in facts] == [[RED], [], [BLUE]]


def test_a_text_that_is_no_picture_is_none(tmp_path):
    texts = [
        "iVBORw0KGg is how a PNG begins",
        "/9j/not base64!",
        "data:image/png;base64,",
        "data:image/svg+xml,<svg/>",
        "R0lGODlh",
    ]
    facts = facts_of(lambda: model([user(*({"type": "image", "data": text} for text in texts))]), tmp_path)
    assert all(one.data.startswith(b"GIF8") for one in pictures(facts, facts.steps[0]))


def test_an_exported_page_shows_the_pictures_and_may_show_nothing_else(tmp_path):
    def act():
        model([user(PARTS["openai"])])
        shot()

    section = conversation(facts_of(act, tmp_path), "last")
    shown = page_html(StaticPage("x", "", (section,)))
    assert f'src="data:image/png;base64,{in_base64(RED)}"' in shown
    assert f'src="data:image/jpeg;base64,{in_base64(BLUE)}"' in shown
    assert "img-src data:;" in shown
    assert "img-src" not in page_html(StaticPage("x", "", ()))


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\r", "png"),
        (b"RIFF\x24\0\0\0WEBP", "webp"),
        (b"RIFF\x24\0\0\0WAVE", None),
        (b"<svg onload=x>", None),
        (b"", None),
    ],
)
def test_a_picture_is_known_by_its_first_bytes_and_a_sound_is_none(head: bytes, kind: str | None) -> None:
    assert picture_kind(head) == kind
