"""The agent on pages that nobody here wrote, which say themselves whether their task was done."""

from __future__ import annotations

import re

import pytest

import reenact
from tests.browser import others
from tests.browser.agent.scripted import Scripted, click, done, element, fill
from tests.browser.miniwob_tasks import DONE, REWARD, START, TEXT


def quoted(text):
    return re.findall(r'"([^"]+)"', text)


def choose(text):
    option = re.search(r"Select (.+) from the list", text)[1]
    return lambda page: {
        "type": "select_dropdown_option",
        "id": element(page, "combobox"),
        "value": option,
    }


def login(text):
    user, password = quoted(text)

    def nth(place, value):
        def decide(page):
            return {
                "type": "fill",
                "id": re.findall(r"textbox.*?\[(?:id=)?(\w+)\]", page)[place],
                "value": value,
            }

        return decide

    return [nth(0, user), nth(1, password), click("button", "Login")]


TASKS = {
    "click-button": lambda text: [click("button", f'"{quoted(text)[0]}"')],
    "enter-text": lambda text: [fill("", quoted(text)[0]), click("button", "Submit")],
    "login-user": login,
    "choose-list": lambda text: [choose(text), click("button", "Submit")],
    "click-link": lambda text: [click("span", f'"{quoted(text)[0]}"')],
}
"""What a model would decide, from the task's text; elements it finds in the page as it is shown."""


@pytest.fixture(scope="module")
def address():
    with others.served(others.miniwob()) as served:
        yield served


@pytest.mark.sampled
@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_done_by_what_the_agent_is_shown(session, address, name):
    def ask(code):
        return session.execute(type="evaluate_js", code=code).data

    session.execute(type="goto", url=f"{address}/miniwob/{name}.html")
    ask(START.replace("SEED", repr("agent")))
    text = ask(TEXT)
    model = Scripted(*TASKS[name](text), done("done"))
    result = reenact.Client().Agent(session, reasoning_model=model.model, max_steps=6).run(text)
    assert result.success, result.steps
    assert ask(DONE)
    assert ask(REWARD) > 0
