"""What a model is told: enough to go on, and no more with every step."""

from __future__ import annotations

from reenact.browser.agent import prompt
from reenact.browser.agent.status import line, step


def taken(action, *, success=True, message="clicked", **more):
    return step("it is there", action, {"success": success, "message": message, "url": "http://x/", **more})


CLICK = {"type": "click", "id": "B1"}


def test_a_step_more_costs_one_line_and_the_page_is_told_once():
    few, many = ([taken(CLICK)] * count for count in (4, 24))
    sizes = [len(prompt.asked(task="t", page="p" * 5000, steps=steps, left=9)) for steps in (few, many)]
    assert sizes[1] - sizes[0] < 20 * 120
    hundred = prompt.asked(task="t", page="p" * 5000, steps=[taken(CLICK)] * 100, left=9)
    assert "70 earlier steps are left out" in hundred
    assert len(hundred) < sizes[1] + 1000


def test_what_a_step_brought_to_light_is_told_whole_while_it_is_new():
    steps = [taken({"type": "scrape"}, data="d" * 3000), *[taken(CLICK)] * 2]
    assert "d" * 3000 in prompt.history(steps)
    later = prompt.history([*steps, taken(CLICK)])
    assert "d" * 400 in later
    assert "d" * 401 not in later
    assert "2600 more characters" in later


def test_the_same_failure_twice_is_pointed_out():
    failed = taken(CLICK, success=False, message="covered by a banner")
    assert prompt.hint([failed]) == ""
    assert "failed 2 times in a row" in prompt.hint([failed, failed])
    assert prompt.hint([failed, failed, taken({"type": "click", "id": "B2"})]) == ""
    assert "3 times in a row" in prompt.hint([taken(CLICK)] * 3)


def test_the_last_step_is_told_to_be_the_last():
    assert "complete now" in prompt.asked(task="t", page="p", steps=[], left=1)
    assert "complete now" not in prompt.asked(task="t", page="p", steps=[], left=2)


def test_a_step_is_one_line_of_the_log():
    assert (
        line(3, taken(CLICK, success=False, message="covered")) == 'step 3: click(id="B1") (failed: covered)'
    )
    assert "no action" in line(1, step("", None, {"success": False, "message": "?"}))
