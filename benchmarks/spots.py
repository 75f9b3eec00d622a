"""Steps of scripts that pass, on pages that nobody here wrote: how to stand before each of them, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.browser import others
from tests.browser.miniwob_tasks import SEEDS, START, TASKS, TEXT

from reenact.browser.actions import types as do
from reenact.browser.session.session import Session

Arrive = Callable[[Session], do.Aimed]


@dataclass(frozen=True)
class Spot:
    """A step of a script.

    Attributes:
        site: `MiniWoB`, `TodoMVC` or `shop`.
        name: Which one of its steps.
        arrive: Brings a session's page to where the step is next; gives the step.
    """

    site: str
    name: str
    arrive: Arrive


@dataclass(frozen=True)
class Script:
    """A whole script that passes: `run` does it, `spots` are those of its steps that are tried on changed pages."""

    name: str
    run: Callable[[Session], None]
    spots: tuple[Spot, ...]


@contextmanager
def scripts(folder: Path, *, every: int = 1) -> Iterator[list[Script]]:
    """All scripts, with the servers of their pages; one of `every` only."""
    with ExitStack() as stack:
        found = _miniwob(stack.enter_context(others.served(others.miniwob())))
        if others.TODOMVC.is_dir():
            found += _todos(stack.enter_context(others.served(others.TODOMVC.parent)))
        found += _shop(stack.enter_context(others.shop(folder)))
        yield found[::every]


def _aimed(action: dict[str, Any]) -> bool:
    return "selector" in action


# -- MiniWoB++ ---------------------------------------------------------------------------------------------------


def _miniwob(address: str) -> list[Script]:
    found = []
    for name in sorted(TASKS):
        spots = tuple(
            Spot("MiniWoB", f"{name} {which}", _before(address, name, which)) for which in ("first", "last")
        )
        found.append(Script(name, _task(address, name), spots))
    return found


def _begin(session: Session, address: str, name: str) -> Iterator[dict[str, Any]]:
    def ask(code: str) -> Any:
        return session.execute(type="evaluate_js", code=code).data

    session.execute(type="goto", url=f"{address}/miniwob/{name}.html")
    ask(START.replace("SEED", repr(SEEDS.get(name, "abc")[0])))
    return TASKS[name](ask(TEXT), ask)


def _patient(action: dict[str, Any]) -> dict[str, Any]:
    return {**action, "timeout": 3000} if _aimed(action) else action


def _task(address: str, name: str) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        count = 0
        for action in _begin(session, address, name):
            session.execute(**_patient(action))
            count += _aimed(action)
        _COUNTS[name] = count

    return run


_COUNTS: dict[str, int] = {}
"""How many steps with an element a task has: which is the last is known once it was done."""


def _before(address: str, name: str, which: str) -> Arrive:
    def arrive(session: Session) -> do.Aimed:
        wanted = 0 if which == "first" else _COUNTS[name] - 1
        if which == "last" and wanted == 0:
            raise LookupError("the first is the last")
        place = 0
        for action in _begin(session, address, name):
            if _aimed(action):
                if place == wanted:
                    return do.action_of(**action)  # type: ignore[return-value]
                place += 1
            session.execute(**_patient(action))
        raise LookupError("the task ended sooner")

    return arrive


# -- TodoMVC -----------------------------------------------------------------------------------------------------

_CLEAR = "localStorage.clear(), sessionStorage.clear()"


def _todos(address: str) -> list[Script]:
    found = []
    for framework in others.FRAMEWORKS:
        spots = tuple(
            Spot("TodoMVC", f"{framework} {place}", _todo(f"{address}/examples/{framework}/", place))
            for place in (0, 6)
        )
        found.append(Script(framework, _all_todos(f"{address}/examples/{framework}/"), spots))
    return found


def _all_todos(url: str) -> Callable[[Session], None]:
    def run(session: Session) -> None:
        session.execute(type="goto", url=url)
        for action in others.TODO:
            session.execute(**action)

    return run


def _todo(url: str, place: int) -> Arrive:
    def arrive(session: Session) -> do.Aimed:
        session.execute(type="goto", url=url)
        session.execute(type="evaluate_js", code=_CLEAR)
        session.execute(type="reload")
        for action in others.TODO[:place]:
            session.execute(**action)
        return do.action_of(**others.TODO[place])  # type: ignore[return-value]

    return arrive


# -- the shop ----------------------------------------------------------------------------------------------------

_PASSWORD = "Sup3r-secret-9"
_REGISTER = range(1, 5)
"""The steps of the registration: done by somebody who is not known there yet."""


def _shop(address: str) -> list[Script]:
    number = 0

    def steps() -> list[dict[str, Any]]:
        nonlocal number
        number += 1
        return others.checkout(address, f"ada{number}@example.com", _PASSWORD)

    def run(session: Session) -> None:
        for action in steps():
            session.execute(**action)
        for action in steps()[5:8]:  # something in the basket again, for those who come
            session.execute(**action)

    def before(place: int) -> Arrive:
        def arrive(session: Session) -> do.Aimed:
            script = steps()
            if place in _REGISTER:
                session.set_cookies([{"name": "sessionid", "value": "nobody", "url": address}])
                start = 0
            else:
                start = _known(session, address, script, place)
            for action in script[start:place]:
                session.execute(**action)
            return do.action_of(**script[place])  # type: ignore[return-value]

        return arrive

    places = [place for place, action in enumerate(steps()) if _aimed(action)][:-2]
    spots = tuple(Spot("shop", f"checkout {place + 1}", before(place)) for place in places)
    return [Script("checkout", run, spots)]


def _known(session: Session, address: str, script: list[dict[str, Any]], place: int) -> int:
    """Somebody who is registered, with something in the basket; gives from which step on to go."""
    session.set_cookies([{"name": "sessionid", "value": "nobody", "url": address}])
    if place > 6:
        for action in script[:7]:
            session.execute(**action)
        session.core.outcomes.clear()
        return 7
    return 5
