"""Sessions on pages that nobody here wrote: what a script does there is done, and one recording has all of it."""

from __future__ import annotations

import pytest

from tests.browser import others
from tests.browser.miniwob_tasks import DONE, REWARD, SEEDS, START, TASKS, TEXT

SOME = sorted(TASKS)[::6]
"""In every run of the tests; all of them are `thorough`."""


@pytest.fixture(scope="module")
def miniwob():
    with others.served(others.miniwob()) as address:
        yield address


@pytest.fixture
def session(shared_session):
    return shared_session()


def solved(session, address, name, seed):
    """Do a task by its script; whether the page says that it is done, and well."""

    def ask(code):
        return session.execute(type="evaluate_js", code=code).data

    session.execute(type="goto", url=f"{address}/miniwob/{name}.html")
    ask(START.replace("SEED", repr(seed)))
    for action in TASKS[name](ask(TEXT), ask):
        session.execute(**action, **({"timeout": 3000} if "selector" in action else {}))
    ask("new Promise(done => setTimeout(done, 30))")
    return ask(DONE) and ask(REWARD) > 0


@pytest.mark.sampled
@pytest.mark.parametrize("name", SOME)
def test_a_miniwob_task_is_rewarded(session, miniwob, name):
    assert solved(session, miniwob, name, SEEDS.get(name, "abc")[0])


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_miniwob_task_is_rewarded_with_every_seed(session, miniwob, name):
    for seed in SEEDS.get(name, "abc"):
        assert solved(session, miniwob, name, seed), seed


@pytest.mark.thorough
@pytest.mark.skipif(
    not others.TODOMVC.is_dir(), reason="no TodoMVC here: `make pages` brings it, where npm is"
)
@pytest.mark.parametrize(
    "framework",
    [
        *others.FRAMEWORKS[:3],
        *(pytest.param(one, marks=pytest.mark.thorough) for one in others.FRAMEWORKS[3:]),
    ],
)
def test_three_things_to_do_and_one_of_them_done(session, framework):
    with others.served(others.TODOMVC.parent) as address:
        session.execute(type="goto", url=f"{address}/examples/{framework}/")
        for action in others.TODO:
            session.execute(**action)
        assert session.execute(type="evaluate_js", code=others.DONE).data == ["replay it"]
