"""A patch is tried on the recorded pages of its step, and on those pages without the record and with decoys."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from reenact import Client
from reenact.browser.heal.patch_trial import exactly, tried
from reenact.browser.heal.step_pages import step_pages


def invoices(*numbers, label="Delete", more=""):
    rows = (
        f"<li><b>Invoice {one}</b> <button type=button {'' if more else f'id=del-{one}'}>{label}</button></li>"
        for one in numbers
    )
    return f"<h1>Invoices</h1><ul>{''.join(rows)}</ul>{more}"


OLD = invoices(16, 17, 18)
NEW = invoices(16, 17, 18, 19, more="<p>New</p>")


@pytest.fixture(scope="module")
def recorded(open_session, chromium, site, tmp_path_factory):
    """A function: the recorded pages of a step that was found in the first run, and mended in the second."""

    def run(old, new, selector):
        home = tmp_path_factory.mktemp("trial")
        step = {"type": "click", "selector": selector, "timeout": 2000}
        with open_session(home=home, name="bills", cdp_url=chromium) as session:
            session.execute(type="goto", url=site(f"echo?html={quote(old)}"))
            assert session.execute(step).success
        with open_session(home=home, name="bills", cdp_url=chromium) as session:
            session.execute(type="goto", url=site(f"echo?html={quote(new)}"))
            with Client().AgentFallback(session, task="delete it", heal="auto") as fb:
                session.execute(step)
            (heal,) = fb.heals
            assert heal.verified
        return step_pages(Path(session.recording), heal.key)

    return run


@pytest.fixture(scope="module")
def pages(recorded):
    return recorded(OLD, NEW, "#del-17")


def test_the_page_of_the_mend_comes_first_and_the_good_runs_behind_it(pages):
    assert [one.mended for one in pages] == [True, False]
    assert all(any("Invoice 17" in node for node in one.tree["nodes"]) for one in pages)


@pytest.fixture(scope="module")
def trial(pages):
    offered = {
        "role": 'role=button[name="Delete"]',
        "css": "css=li:nth-of-type(2) > button",
        "text": 'li:has-text("Invoice 17") >> text=Delete',
        "playwright": "get_by_text('Nothing')",
    }
    (found,) = tried([(offered, pages)])
    return found


def test_a_selector_that_finds_a_neighbour_once_the_record_is_gone_is_refused(trial):
    assert {"role", "css", "playwright"} & trial.fit.keys() == set()


def test_a_selector_by_a_part_of_a_text_is_narrowed_to_the_whole_of_it(trial):
    assert trial.fit["text"] == 'li:has(:text-is("Invoice 17")) >> text="Delete"'


def test_a_trial_is_no_recording(pages, monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("a recording was opened")

    monkeypatch.setattr("reenact.browser.effects.session_recording.record", refuse)
    (found,) = tried([({"css": "css=li:nth-of-type(2) > button"}, pages)])
    assert found.told.startswith("tried on 2 recorded pages (")


def test_the_pages_and_the_variants_are_told(trial):
    assert trial.told.startswith("tried on 2 recorded pages (")
    assert "; with another record instead of its own; " in trial.told


def test_a_refusal_names_the_page_the_variant_and_the_element_that_was_found(pages):
    (found,) = tried([({"css": "li:nth-of-type(2) > button"}, pages[:1])])
    assert found.fit == {}
    assert (
        'without its record, li:nth-of-type(2) > button finds button "Delete" of the record "Invoice 18"'
        in (found.refused)
    )


def framed(page):
    """The page in the second of two frames alike."""
    return f"<h1>Ledger</h1><iframe id=none srcdoc='<p>Empty</p>'></iframe><iframe id=bills srcdoc='{page}'></iframe>"


def shadowed(page):
    """The rows of the page, each with its texts and its button in a shadow root."""
    open_ = "for (const row of document.querySelectorAll(`li`)) { const inner = row.innerHTML; row.innerHTML = ``;"
    return f"{page}<script>{open_} row.attachShadow({{ mode: `open` }}).innerHTML = inner; }}</script>"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("around", "before"),
    [(framed, "frame=#bills >> "), (shadowed, "")],
)
def test_a_selector_of_an_element_in_a_frame_or_a_shadow_root_is_tried_on_variants_too(
    recorded, around, before
):
    pages = recorded(around(OLD), around(NEW), f"{before}#del-17")
    assert len(pages) == 2
    offered = {
        "css": f"{before}css=li:nth-of-type(2) >> button",
        "text": f"{before}li:has-text('Invoice 17') >> role=button[name='Delete']",
        "role": f"{before}role=button[name='Delete']",
    }
    (found,) = tried([(offered, pages)])
    assert dict(found.fit) == {
        "text": f"{before}li:has(:text-is('Invoice 17')) >> role=button[name='Delete']"
    }
    for variant in ("without its record", "without itself", "with another record before it"):
        assert variant in found.told
    (found,) = tried([({"css": offered["css"]}, pages)])
    assert 'finds button "Delete" of the record "Invoice 1' in found.refused


def test_without_a_recorded_page_it_is_said_that_nothing_was_tried():
    (found,) = tried([({"css": "#buy"}, [])])
    assert (dict(found.fit), found.told) == (
        {"css": "#buy"}, "not tried on recorded pages: none of this step is kept",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("text=Delete", 'text="Delete"'),
        ("~Delete", 'text="Delete"'),
        ("li >> text=Delete", 'li >> text="Delete"'),
        ('get_by_role("button", name="Pay")', 'get_by_role("button", name="Pay", exact=True)'),
        ('get_by_role("list").get_by_text("a(b)")', 'get_by_role("list").get_by_text("a(b)", exact=True)'),
        ('get_by_text("x", exact=True)', 'get_by_text("x", exact=True)'),
        ("tr:has-text('Ann') button", "tr:has(:text-is('Ann')) button"),
        ("#pay", "#pay"),
        ("text=/Pay/", "text=/Pay/"),
    ],
)
def test_each_text_of_a_selector_can_be_taken_as_a_whole(text, wanted):
    assert exactly(text) == wanted
