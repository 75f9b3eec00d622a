"""A session that several tests share, on a small shop; and a script whose page changes from one run to the next."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import quote

import pytest

import reenact
from reenact.browser.actions.types import action_of
from reenact.browser.effects.calls import arun
from reenact.browser.heal import ladder
from reenact.browser.heal.mend import FailedStep
from tests.browser.agent.conftest import browser_here, session, shared_session, shop
from tests.browser.agent.scripted import Scripted
from tests.browser.conftest import LASTING
from tests.chromium import CHROMIUM, headless

__all__ = ["browser_here", "session", "shared_session", "shop"]


@pytest.fixture
def fallback():
    """Makes a block whose agent asks a scripted model, and that model."""

    def made(session, *answers, task="Buy green tea", **options):
        model = Scripted(*answers)
        options.setdefault("reasoning_model", model.model)
        return reenact.Client().AgentFallback(session, task=task, **options), model

    return made


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """The address of a browser that many sessions share: to start one for each takes most of a test's time."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    profile = tmp_path_factory.mktemp("profile")
    command = [
        str(headless()),
        "--headless",
        "--no-sandbox",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
    ]
    with subprocess.Popen([*command, "about:blank"], stderr=subprocess.DEVNULL, process_group=0) as browser:
        try:
            port = profile / "DevToolsActivePort"
            until = monotonic() + 60
            while not (port.is_file() and port.read_text().strip()):
                assert monotonic() < until, "the browser does not start"
                sleep(0.05)
            yield f"http://127.0.0.1:{port.read_text().split()[0]}"
        finally:
            os.killpg(browser.pid, signal.SIGTERM)  # Debian's program waits for the browser


@pytest.fixture(scope="session")
def lessons(open_session, chromium, tmp_path_factory):
    """The homes of good runs, by what was run (the same run is made once); where they are; and who makes sessions."""
    return {}, tmp_path_factory.mktemp("lessons"), partial(open_session, cdp_url=chromium)


class Stage:
    """A loop, and a session in it that all tests share: to start one takes longer than what is tried in it."""

    def __init__(self, runner, make):
        self.runner = runner
        self._make = make
        self._session = None

    @property
    def session(self):
        """The session, or a new one where a test has ended it."""
        if self._session is None or self._session.status().status == "closed":
            self.stop()
            self._session = self.runner.run(self._make(**LASTING).astart())
        return self._session

    def stop(self):
        if self._session is not None:
            self.runner.run(self._session.astop())


@pytest.fixture(scope="session")
def stage(open_session, chromium, tmp_path_factory):
    with asyncio.Runner() as runner:
        make = partial(open_session, home=tmp_path_factory.mktemp("stage"), name="script", cdp_url=chromium)
        stage = Stage(runner, make)
        yield stage
        stage.stop()


class Script:
    """One step of a script, `aim` with `type`, run on pages: `learn` on the old one, `climb` on the changed one."""

    def __init__(self, site, home, lessons, stage):
        self.site, self.home = site, home
        self.lessons, self.folder, self.open_session = lessons
        self.stage = stage
        self.learned = None
        self.session = None

    def page(self, html):
        return self.site(f"echo?html={quote(html)}")

    async def run(self, session, html, step, before):
        """A run of the script on a page; gives what `step` gives, which is handed the session."""
        self.session = session
        session.core.outcomes.clear()
        await session.aexecute(type="goto", url=self.page(html))
        for action in before:
            await session.aexecute(**action)
        return await step(session)

    async def alone(self, home, *run):
        """A run in a session of its own."""
        async with self.open_session(home=home, name="script") as session:
            return await self.run(session, *run)

    def learn(self, html, before=(), **action):
        """A good run: the step succeeds."""

        async def step(session):
            return await session.aexecute(**action)

        key = repr((html, before, action))
        if key not in self.lessons:
            home = self.folder / str(len(self.lessons))
            self.lessons[key] = home, asyncio.run(self.alone(home, html, step, before))
        self.learned, result = self.lessons[key]
        return result

    def climb(
        self, html, *, before=(), patience=150, judge=None, model=None, budget=150, after=None, alone=False,
        **action,
    ):  # fmt: skip
        """A run in which the step fails, and what the ladder did about it; `self.log` is what the page noted.

        `alone` is a run that leaves a recording of its own, beside what was learned.
        """

        async def step(session):
            asked = action_of({"timeout": patience, **action})
            result = await arun(session.core.perform(asked))
            assert not result.success, result.message
            failed = FailedStep.of(session, asked, result)
            judged = judge and (lambda: judge(session))
            # What comes late comes now, however long the busy machine took so far.
            await session.page.evaluate("() => window.begin?.()")
            mend = await ladder.climb(session, failed, judge=judged, model=model, budget_ms=budget)
            self.failed = failed
            if after is not None:
                after(session, failed, mend)
            self.log = await session.page.evaluate("() => window.log || []")
            self.done = [
                (one["actor"], one["action"]["type"], one["message"]) for one in session.core.outcomes
            ]
            self.timeouts = [
                one["action"]["timeout"] for one in session.core.outcomes if "timeout" in one["action"]
            ]
            return mend

        if alone:
            if not self.home.exists():
                shutil.copytree(self.learned, self.home)
            return asyncio.run(self.alone(self.home, html, step, before))
        runner, session = self.stage.runner, self.stage.session
        recording = Path(session.recording)
        self.home = recording.parents[1]
        with self.beside(recording):
            return runner.run(self.run(session, html, step, before))

    @contextmanager
    def beside(self, recording):
        """What was learned, beside the recording of the session that all share, for the length of one run."""
        with ExitStack() as stack:
            for known in self.learned.glob("recordings/*") if self.learned else ():
                copy = recording.parent / known.name
                stack.callback(shutil.rmtree, copy, ignore_errors=True)
                shutil.copytree(known, copy)
            yield


@pytest.fixture
def script(site, tmp_path, lessons, stage):
    return Script(site, tmp_path / "home", lessons, stage)
