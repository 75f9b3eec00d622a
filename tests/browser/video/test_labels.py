"""What captions say."""

from __future__ import annotations

import pytest

from reenact.browser.video import labels


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"type": "goto", "url": "https://example.com/"}, "Go to https://example.com/"),
        ({"type": "click", "selector": "#buy"}, "Click #buy"),
        ({"type": "click", "id": "B1"}, "Click B1"),
        ({"type": "click", "selector": {"css": "#a", "xpath": "//a"}}, "Click #a"),
        ({"type": "fill", "selector": "#name", "value": "Ada"}, "Fill #name with “Ada”"),
        ({"type": "check", "selector": "#terms", "value": False}, "Untick #terms"),
        (
            {"type": "select_dropdown_option", "selector": "#size", "value": "large"},
            "Select “large” in #size",
        ),
        ({"type": "press_key", "key": "Enter"}, "Press Enter"),
        ({"type": "wait", "time_ms": 1500}, "Wait 1.5 s"),
        ({"type": "switch_tab", "tab_index": 2}, "Switch to tab 2"),
        ({"type": "scroll_down", "amount": 300}, "Scroll down by 300 pixels"),
        ({"type": "scroll_down", "amount": None}, "Scroll down"),
        ({"type": "completion", "success": True, "answer": "42"}, "Complete: 42"),
        ({"type": "page.click", "args": ["a"]}, "Click a"),
        (
            {"type": "page.fill", "on": "page.get_by_label('Full name')", "args": ["Ada"]},
            "Fill “Full name” with “Ada”",
        ),
        ({"type": "page.goto", "args": ["https://example.com/"]}, "Go to https://example.com/"),
        ({"type": "page.uncheck", "args": ["#terms"]}, "Untick #terms"),
        ({"type": "page.press", "args": ["#q", "Enter"]}, "Press #q with “Enter”"),
        ({"type": "page.reload", "args": []}, "Reload"),
        ({"type": "page.bring_to_front"}, "page.bring_to_front"),
        ({"type": "new_thing", "selector": "#x"}, "New thing #x"),
        ({}, "Action"),
    ],
)
def test_an_action_is_one_short_sentence(fields, said):
    assert labels.action(fields) == said


def test_a_secret_value_is_not_said():
    assert "hunter2" not in labels.action({"type": "fill", "selector": "#a", "value": "hunter2"}, hidden=True)
    assert "hunter2" not in labels.action({"type": "fill", "selector": "#password", "value": "hunter2"})
    assert "[[secret" not in labels.action(
        {"type": "fill", "selector": "#a", "value": "[[secret:password:0123abcd]]"}
    )
    form = {
        "type": "form_fill",
        "value": {"email": "ada@example.com", "current_password": "hunter2", "cc_cvv": "123"},
    }
    assert (
        labels.action(form) == "Fill the form email “ada@example.com”, current_password •••••, cc_cvv •••••"
    )


def test_an_element_goes_by_its_role_and_name_where_these_are_known():
    selectors = {"playwright": 'get_by_role("button")', "role": 'css=#f >> role=button[name="Log \\"in\\""]'}
    assert labels.element(selectors, "#x") == 'button “Log "in"”'
    assert labels.element({"text": "~Log in"}, "#x") == "“Log in”"
    assert labels.element({}, "#x") == "#x"
    assert (
        labels.element({"playwright": 'get_by_role("textbox", name="Pass word", exact=True)'}, "#x")
        == "textbox “Pass word”"
    )
    assert labels.element({"playwright": 'locator("#f").get_by_label("City").nth(1)'}, "#x") == "“City”"
    row = 'get_by_role("row", name="ORD-7 \\"Lamp\\" Cancel").'
    assert (
        labels.element({"playwright": f'{row}get_by_role("button")'}, "#x")
        == 'button in row “ORD-7 "Lamp" Cancel”'
    )
    assert (
        labels.element({"playwright": f'{row}get_by_label("City").first'}, "#x")
        == '“City” in row “ORD-7 "Lamp" Cancel”'
    )
    assert labels.element({"playwright": 'locator("#size")'}, 'locator("#size")') == "#size"
    assert labels.element(None, None) == ""


def test_a_page_cannot_turn_or_break_a_caption():
    hostile = "Pay\u202e evil\x1b[31m\nnow\u0000"
    assert labels.plain(hostile) == "Pay evil[31m now"
    assert len(labels.plain("x" * 10_000_000)) == labels.LONGEST


def test_times_and_sizes_read_as_usual():
    assert [labels.clock(s) for s in (0, 67, 3723.9, -1)] == ["0:00", "1:07", "1:02:03", "0:00"]
    assert [labels.size(n) for n in (0, 999, 1500, 123_456, 7e12)] == [
        "0 B",
        "999 B",
        "1.5 kB",
        "123 kB",
        "7000 GB",
    ]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"type": "drag", "selector": "#crate"}, "Drag button “Crate”"),
        ({"type": "drag", "selector": "#crate", "by": [80, 0]}, "Drag button “Crate” by 80, 0 pixels"),
        ({"type": "drop", "selector": "#crate"}, "Drop on button “Crate”"),
        ({"type": "drop", "selector": "#crate", "file_path": "log.txt"}, "Drop the file log.txt on button “Crate”"),
        ({"type": "expand", "selector": "#crate"}, "Open button “Crate”"),
        ({"type": "expand", "selector": "#crate", "value": False}, "Close button “Crate”"),
    ],
)  # fmt: skip
def test_drags_drops_and_what_is_opened_are_said_in_words(fields, words):
    assert labels.action(fields, "button “Crate”") == words


def test_an_empty_text_in_a_secret_field_is_no_secret():
    cleared = {"type": "fill", "selector": "#password", "value": ""}
    assert labels.action(cleared, "textbox “Password”", hidden=True) == "Fill textbox “Password” with “”"
    typed = cleared | {"value": "[[secret:secret:693dce44]]"}
    assert labels.action(typed, "textbox “Password”", hidden=True) == "Fill textbox “Password” with •••••"
    form = {"type": "form_fill", "value": {"current_password": "", "cc_cvv": "123"}}
    assert labels.action(form) == "Fill the form current_password “”, cc_cvv •••••"
