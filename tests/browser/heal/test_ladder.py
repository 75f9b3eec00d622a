"""The ladder as a whole: what is verified counts, what is not is a failure and said; recorded, and replayed exactly."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import reenact
from reenact.browser.actions.types import action_of
from reenact.browser.effects.calls import arun
from reenact.browser.heal import ladder
from reenact.browser.heal.helper import made
from reenact.browser.heal.identity import choose
from reenact.browser.heal.mend import FailedStep, Mend, MendOptions, PastStep, StepHistory
from reenact.browser.heal.rungs.alternative import consequential
from reenact.browser.page.consequence import Digest, consequence, same
from reenact.core.boundary import perform
from reenact.core.model.event import Effect
from tests.browser.heal.test_rungs import LOG, OLD, form

RENAMED = form(
    "<button id=x1 type=button onclick='noted(`saved`)'>Keep it</button>"
    "<button id=x2 type=button onclick='noted(`deleted`)'>Delete</button>"
)


@dataclass
class Verdict:
    state: str
    by: str = "the page says so"


def shows(text):
    """Judges by what the page noted."""

    async def judge(session):
        log = await session.page.evaluate("() => window.log")
        return Verdict("met" if text in log else "unmet")

    return judge


class Answers:
    """A model that is asked which element is meant."""

    def __init__(self, name, confidence=0.9):
        self.name, self.confidence, self.asked = name, confidence, []
        self.model = FunctionModel(self.answer, model_name="scripted")

    def answer(self, messages, info):
        text = str(messages[-1].parts[-1].content)
        self.asked.append(text)
        element = next(
            (
                line.split(":")[0]
                for line in text.partition("The elements now:")[2].splitlines()
                if f' "{self.name}"' in line.partition(" beside")[0]
            ),
            "none",
        )
        told = {"reasoning": "it keeps", "element": element, "confidence": self.confidence}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, json.dumps(told))])


class First(Answers):
    """One that always names the first."""

    def __init__(self):
        super().__init__("")

    def answer(self, messages, info):
        told = {"reasoning": "it is the first", "element": "e1", "confidence": 1.0}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, json.dumps(told))])


# -- verified, not hoped -----------------------------------------------------------------------------------------


def test_without_a_recording_what_is_expected_verifies_the_one_element_that_is_called_so(script):
    page = form("<button id=saveButton type=button onclick='noted(`saved`)'>Go</button>")
    mend = script.climb(page, judge=shows("saved"), type="click", selector="#save-button")
    assert (mend.rung, mend.verified_by) == ("alternative", "expect: the page says so")


@pytest.mark.thorough
def test_what_is_not_as_expected_is_a_failure(script):
    page = form("<button id=saveButton type=button onclick='noted(`deleted`)'>Go</button>")
    mend = script.climb(page, judge=shows("saved"), type="click", selector="#save-button")
    assert (mend.verified, mend.result.success) == (False, False)
    assert "the page is no longer as it was" in mend.result.message


def test_a_press_that_arrived_all_the_same_is_known_by_what_is_expected(script):
    page = LOG + "<input type=checkbox id=box onclick='noted(`pressed`); event.preventDefault()'>"
    mend = script.climb(
        page, patience=9000, judge=shows("pressed"), type="check", selector="#box", value=True
    )
    assert (mend.verified, mend.result.success, script.log) == (True, True, ["pressed"])


# -- one question ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_model_names_the_element_that_nothing_else_tells(script):
    script.learn(OLD, type="click", selector="#save")
    answers = Answers("Keep it")
    mend = script.climb(RENAMED, model=answers.model, type="click", selector="#save")
    assert (mend.rung, mend.verified, script.log) == ("ask", True, ["saved"])
    first, second = answers.asked
    assert 'What it meant: button "Save"' in first
    assert 'button "Delete"' in first
    assert first != second


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "sure"), [("Keep it", 0.5), ("Delete", 0.99), ("nothing there", 0.99)])
def test_a_model_that_is_unsure_or_names_something_grave_is_not_followed(script, name, sure):
    script.learn(OLD, type="click", selector="#save")
    assert script.climb(RENAMED, model=Answers(name, sure).model, type="click", selector="#save") is None
    assert script.log == []


LOGIN = LOG + "<h1>Log in</h1><label>Password <input type=password id=pw></label>"
RENAMED_LOGIN = (
    LOG + "<h1>Log in</h1><label>Passphrase <input type=password id=phrase></label>"
    "<label>PIN <input type=password id=pin></label>"
)


@pytest.mark.thorough
def test_no_secret_is_in_the_question_or_the_recording(script):
    async def judge(session):
        filled = await session.page.evaluate("() => phrase.value.length")
        return Verdict("met" if filled else "unmet")

    script.learn(LOGIN, type="fill", selector="#pw", value="hunter2-old")
    answers = Answers("Passwort")
    page = RENAMED_LOGIN.replace("Passphrase", "Passwort")
    mend = script.climb(
        page, judge=judge, model=answers.model, type="fill", selector="#pw", value="hunter2-new"
    )
    assert (mend.rung, mend.verified) == ("ask", True)
    assert "hunter2" not in answers.asked[0] + repr(mend) + repr(script.failed)
    recordings = script.home.glob("recordings/*/*.jsonl")
    assert not any("hunter2" in file.read_text() for file in recordings)


@pytest.mark.thorough
def test_a_model_is_not_asked_for_a_field_of_which_nothing_would_tell_that_it_is_the_one(script):
    script.learn(LOGIN, type="fill", selector="#pw", value="hunter2-old")
    answers = Answers("Passphrase")
    assert script.climb(RENAMED_LOGIN, model=answers.model, type="fill", selector="#pw", value="x") is None
    assert answers.asked == []


# -- the next run ------------------------------------------------------------------------------------------------


def test_a_model_is_not_asked_where_there_is_but_one_to_choose_from(script):
    script.learn(OLD, type="click", selector="#save")
    alone = form("<button id=x1 type=button onclick='noted(`left`)'>Leave</button>")
    answers = Answers("Leave")
    assert script.climb(alone, model=answers.model, type="click", selector="#save") is None
    assert (answers.asked, script.log) == ([], [])


def test_a_model_that_names_a_place_in_the_list_is_not_followed(script):
    script.learn(OLD, type="click", selector="#save")
    mend = script.climb(RENAMED, model=First().model, type="click", selector="#save")
    assert (mend, script.log) == (None, [])


@pytest.mark.thorough
def test_what_was_verified_is_tried_first_the_next_time(script):
    script.learn(OLD, type="click", selector="#save")

    mend = script.climb(
        RENAMED, model=Answers("Keep it").model, type="click", selector="#save", after=recorded, alone=True
    )
    assert mend.rung == "ask"
    again = script.climb(RENAMED, type="click", selector="#save", alone=True)
    assert (again.rung, again.verified, script.log) == ("remembered", True, ["saved"])
    assert [actor for actor, *_ in script.done] == ["script", "script", "heal"]


def recorded(session, failed, mend):
    """As the block records a mend."""
    told = {
        "key": failed.key,
        "rung": mend.rung,
        "new": mend.new,
        "healed": True,
        "verified_by": mend.verified_by,
    }
    with session.core.recording.inside():
        perform(Effect("heal", "record", {"step": failed.key, "rung": mend.rung}, leaf=True), lambda: told)


# -- recorded and replayed ---------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_mend_is_replayed_without_browser_or_store(tmp_path, open_session, chromium, site, monkeypatch):
    pages = [site(f"echo?html={quote(OLD.replace('id=save', f'id={id}'))}") for id in ("save", "keep")]

    async def program(page):
        async with open_session(cdp_url=chromium) as session:
            await session.aexecute(type="goto", url=page)
            asked = action_of(type="click", selector="#save", timeout=300)
            result = await arun(session.core.perform(asked))
            if not result.success:
                failed = FailedStep.of(session, asked, result)
                mend = await ladder.climb(session, failed, budget_ms=5000)
                return failed.key, mend.rung, mend.score, mend.margin, mend.verified_by, mend.new
        return None

    recordings = []
    for page in pages:
        with reenact.record("shop", home=tmp_path) as recording:
            recording.output = asyncio.run(program(page))
        recordings.append(recording)
    assert "alternative" in recording.output
    steps = reenact.load(recording.id, home=tmp_path).steps
    assert [step.label for step in steps][3:] == [
        "heal:memory",
        "browser:click",
        "heal:candidates",
        "browser:click",
    ]
    assert steps[3].call.scope.endswith("/heal")
    shutil.rmtree(recordings[0].path)
    monkeypatch.setenv("REENACT_BROWSER", "/nowhere/chromium")
    with reenact.replay(recording.id, home=tmp_path) as replay:
        replay.output = asyncio.run(program(pages[1]))
    assert replay.verdict.divergences == ()
    assert replay.output == recording.output


# -- what decides ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "then", "verdict"),
    [
        ({"navigated": "/orders/12"}, {"navigated": "/orders/7"}, True),
        ({"navigated": "/orders"}, {"navigated": "/login"}, False),
        ({"navigated": None, "dom": {"added": ['text "Saved"']}}, {"navigated": "/done"}, False),
        ({"requests": ["POST /save"]}, {"requests": ["GET /me", "POST /save"]}, True),
        ({"requests": ["POST /delete"]}, {"requests": ["POST /save"]}, False),
        ({"requests": ["POST /delete"], "dom": {"added": ['text "Ok"']}}, {"dom": {"added": ['text "Ok"']}}, False),
        ({"dom": {"added": ['text "Saved 2"']}}, {"dom": {"added": ['text "Saved 1"']}}, True),
        ({"dom": {"added": ['text "Deleted"'], "removed": ["row"]}}, {"dom": {"added": ['text "Saved"'], "removed": ["row"]}}, False),
        ({"dom": {"changed": ['textbox "a" empty -> filled']}}, {"dom": {"changed": ['textbox "b" empty -> filled']}}, True),
        ({"dom": {"added": ["list"], "changed": ['tab "A" false -> true']}}, {"dom": {"added": ["table"], "changed": ['tab "A" false -> true']}}, True),
        ({"dom": {"added": ["list"], "changed": ['tab "B" false -> true']}}, {"dom": {"added": ["table"], "changed": ['tab "A" false -> true']}}, False),
        ({"dom": {"added": ["list"], "changed": ['tab "A" false -> true', 'box "All" false -> true']}}, {"dom": {"added": ["table"], "changed": ['tab "A" false -> true']}}, False),
        ({"dom": {"added": ['text "9 / 20sec"']}}, {"dom": {"added": ['text "8 / 20sec"']}}, None),
        ({"dom": {}}, {"dom": {"added": ["dialog"]}}, None),
        ({"dom": None}, {"dom": {"added": ["dialog"]}}, None),
        ({"dom": {"added": ["dialog"]}}, {"dom": {}}, None),
    ],
)  # fmt: skip
def test_two_consequences_are_the_same_another_or_cannot_be_told(now, then, verdict):
    assert same(now, then) is verdict


@pytest.mark.parametrize(("name", "verdict"), [("b", None), ("a", True)])
def test_that_another_field_is_filled_shows_nothing_where_the_element_is_in_doubt(name, verdict):
    now, then = ({"dom": {"changed": [f'textbox "{one}" empty -> filled']}} for one in (name, "a"))
    assert same(now, then, by_name=True) is verdict


class Shown(Digest):
    """What a page shows, given as lines of a role, a name and how it stands."""

    def __init__(self, *lines):
        self.url, self.title, self.whole = "http://shop.test/", "Shop", True
        self.lines = Counter("\t".join(line) for line in lines)


@pytest.mark.parametrize(
    ("before", "after", "dom"),
    [
        ([("textbox", "a1", "empty")], [("textbox", "b2", "filled")], {"changed": ['textbox "b2" empty -> filled']}),
        ([("textbox", "a1", "empty")], [("textbox", "b2", "empty")], {"added": ['textbox "b2"'], "removed": ['textbox "a1"']}),
        (
            [("textbox", "a1", "empty"), ("textbox", "a2", "empty")], [("textbox", "b1", "empty"), ("textbox", "b2", "filled")],
            {"added": ['textbox "b1"', 'textbox "b2"'], "removed": ['textbox "a1"', 'textbox "a2"']},
        ),
        ([("tab", "4", "expanded false")], [("tab", "4", "expanded true")], {"changed": ['tab "4" expanded false -> expanded true']}),
    ],
    ids=["renamed and filled", "only renamed", "which one cannot be told", "the same name"],
)  # fmt: skip
def test_the_only_field_of_its_kind_is_the_same_under_another_name(before, after, dom):
    assert consequence(Shown(*before), Shown(*after), [], loaded=False)["dom"] == dom


def test_a_page_with_forty_thousand_other_lines_is_compared_in_one_pass():
    # Line by line it would take hours.
    before, after = (
        Shown(*((f"row{at % 9}", f"{name}{at}", stands) for at in range(40_000)))
        for name, stands in (("a", "empty"), ("b", "filled"))
    )
    assert len(consequence(before, after, [], loaded=False)["dom"]["added"]) == 12


def element(name, score, **more):
    told = {
        "role": "button",
        "tag": "button",
        "name": name,
        "path": f"body/{name}",
        "frames": [],
        "visible": True,
        **more,
    }
    return {"score": score, "fingerprint": told}


WANTED = element("Save", 1, attributes={"id": "save"}, heading="Profile", near=["Name"])["fingerprint"]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ([element("Delete", 0.95)], "nothing there has its name"),
        ([element("Delete", 0.95, attributes={"id": "save"})], "it says 'delete'"),
        ([element("Save", 0.3)], "not alike enough"),
        ([element("Save", 0.8), element("Save", 0.75, path="body/two")], "nearly as alike"),
        ([element("Save all", 0.9, heading="Profile", near=["Name"])], "nothing there has its name"),
        ([element("Save now", 0.9, heading="Other", near=["Name"])], "nothing there has its name"),
        ([element("Svae", 0.9, heading="Other", near=["News"])], "nothing there has its name"),
    ],
)
def test_an_element_that_cannot_be_told_is_not_chosen(found, why):
    choice = choose(WANTED, found, "click")
    assert choice.place is None
    assert why in choice.why


def test_an_element_of_another_record_is_not_chosen_though_all_else_is_equal():
    record = {"key": "Invoice 18", "texts": ["Invoice 18", "open"]}
    other = {"key": "Invoice 17", "texts": ["Invoice 17", "open"]}
    choice = choose({**WANTED, "record": record}, [element("Save", 0.95, record=other)], "click")
    assert (choice.place, choice.why) == (None, "its record is 'Invoice 17', not 'Invoice 18'")


@pytest.mark.parametrize(
    ("was", "now", "verdict"),
    [
        ("textbox", "searchbox", True),
        ("textbox", "spinbutton", True),
        ("combobox", "textbox", True),
        ("checkbox", "switch", None),
        ("textbox", "checkbox", False),
        ("textbox", "slider", False),
    ],
)
def test_a_field_that_became_another_sort_of_field_is_filled_alike(was, now, verdict):
    stands = {"checkbox": "off -> on", "switch": "off -> on"}
    then, after = (
        {"dom": {"changed": [f'{role} "{name}" {stands.get(role, "empty -> filled")}']}}
        for role, name in ((was, "Old"), (now, "New"))
    )
    told = same(after, then)
    assert told is (True if verdict is None else verdict)
    assert same(after, then, by_name=True) is (None if told else False)


@pytest.mark.parametrize(
    ("action", "sends", "wanted", "told", "grave"),
    [
        ("fill", False, {"name": "Mail"}, {"name": "Mail"}, False),
        ("fill", True, {"name": "Mail"}, {"name": "Mail"}, True),
        ("fill", False, {"name": "Mail", "submits": True}, {"name": "Mail"}, False),
        ("select_dropdown_option", True, {"name": "Port"}, {"name": "Port"}, True),
        ("drag", False, {"name": "Crate", "record": {"key": "4"}, "role": "button"}, {"name": "Crate"}, False),
        ("drop", False, {"name": "Hold"}, {"name": "Hold"}, True),
        ("click", False, {"name": "Tide"}, {"name": "Tide"}, False),
        ("click", False, {"name": "Tide"}, {"name": "Delete tide"}, True),
        ("click", False, {"name": "Tide", "submits": True}, {"name": "Tide"}, True),
        ("click", False, {"name": ""}, {"name": ""}, True),
        ("click", False, {"name": "Go", "record": {"key": "Berth 4"}, "role": "button"}, {"name": "Go"}, True),
    ],
)  # fmt: skip
def test_acts_that_cannot_be_undone_are_known(action, sends, wanted, told, grave):
    led = {"requests": ["POST /save"], "navigated": None, "dom": {}} if sends else None
    past = PastStep("r1", {}, dict(wanted), led)
    assert consequential(action, wanted, told, StepHistory(1, (past,))) is grave


@pytest.mark.parametrize(
    ("now", "verified"),
    [
        ({"filled": True, "dom": {"changed": ['textbox "Post" empty -> filled']}}, True),
        # Another field has changed, and the one that was written into holds nothing.
        ({"filled": False, "dom": {"changed": ['textbox "Other" empty -> filled']}}, False),
        # Nothing tells whether the field itself holds the text: its name must be the same.
        ({"dom": {"changed": ['textbox "Other" empty -> filled']}}, False),
    ],
)
def test_a_fill_is_verified_by_the_field_itself(now, verified):
    field = {"role": "textbox", "name": "Mail", "attributes": {"id": "mail"}}
    then = {"filled": True, "dom": {"changed": ['textbox "Mail" empty -> filled']}}
    action = action_of(type="fill", selector="#mail", value="a@b.example")
    result = made(action, datetime.now(UTC), "", success=True, message="filled").model_copy(
        update={"consequence": now}
    )
    mend = Mend(result, "alternative", "#mail", evidence={"after": {"fingerprint": field}})
    known = StepHistory(1, (PastStep("r1", {}, field, then),))
    done = asyncio.run(ladder.verified(mend, known, MendOptions()))
    assert bool(done.verified_by) is verified
