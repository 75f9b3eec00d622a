"""A session that several tests share, on a small shop; and a script whose page changes from one run to the next."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from functools import partial
from time import monotonic, sleep
from urllib.parse import quote

import pytest

import reenact
from reenact.browser.actions import action_of
from reenact.browser.fallback import ladder
from tests.browser.agent.conftest import SHOP, browser_here, page
from tests.browser.agent.scripted import Scripted
from tests.browser.conftest import CHROMIUM

__all__ = ["browser_here"]


@pytest.fixture(scope="module")
def session(browser_here, tmp_path_factory):
    """A session, shared by a module; its own recording is what the tests look into."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REENACT_HOME", str(tmp_path_factory.mktemp("home")))
        patch.delenv("REENACT_MODEL", raising=False)
        with reenact.Client().Session() as running:
            yield running


@pytest.fixture
def shop(session):
    """The session, with the shop open afresh."""
    session.execute(type="goto", url=page(SHOP))
    return session


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
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
    ]
    with subprocess.Popen([*command, "about:blank"], stderr=subprocess.DEVNULL) as browser:
        try:
            port = profile / "DevToolsActivePort"
            until = monotonic() + 60
            while not (port.is_file() and port.read_text().strip()):
                assert monotonic() < until, "the browser does not start"
                sleep(0.05)
            yield f"http://127.0.0.1:{port.read_text().split()[0]}"
        finally:
            browser.terminate()


@pytest.fixture(scope="session")
def lessons(tmp_path_factory):
    """The homes of good runs, by what was run: the same run is made once, and copied."""
    return {}, tmp_path_factory.mktemp("lessons")


class Script:
    """One step of a script, `aim` with `type`, run on pages: `learn` on the old one, `climb` on the changed one."""

    def __init__(self, open_session, site, home, lessons):
        self.open_session, self.site, self.home = open_session, site, home
        self.lessons, self.folder = lessons
        self.session = None

    def page(self, html):
        return self.site(f"echo?html={quote(html)}")

    def run(self, html, step, *, before=(), **options):
        """A run of the script on a page; gives what `step` gives, which is handed the session."""

        async def program():
            async with self.open_session(home=self.home, name="script", **options) as session:
                self.session = session
                await session.aexecute(type="goto", url=self.page(html))
                for action in before:
                    await session.aexecute(**action)
                return await step(session)

        return asyncio.run(program())

    def learn(self, html, before=(), **action):
        """A good run: the step succeeds."""

        async def step(session):
            return await session.aexecute(**action)

        if self.home.exists():
            return self.run(html, step, before=before)
        key = repr((html, before, action))
        if key not in self.lessons:
            own, self.home = self.home, self.folder / str(len(self.lessons))
            self.lessons[key] = self.home, self.run(html, step, before=before)
            self.home = own
        learned, result = self.lessons[key]
        shutil.copytree(learned, self.home)
        return result

    def climb(
        self, html, *, before=(), patience=150, judge=None, model=None, budget=150, after=None, **action
    ):
        """A run in which the step fails, and what the ladder did about it; `self.log` is what the page noted."""

        async def step(session):
            asked = action_of({"timeout": patience, **action})
            result = await session._aexecute(asked)
            assert not result.success, result.message
            failed = ladder.Failed.of(session, asked, result)
            judged = judge and (lambda: judge(session))
            # What comes late comes now, however long the busy machine took so far.
            await session.page.evaluate("() => window.begin?.()")
            mend = await ladder.climb(session, failed, judge=judged, model=model, budget_ms=budget)
            self.failed = failed
            if after is not None:
                after(session, failed, mend)
            self.log = await session.page.evaluate("() => window.log || []")
            self.done = [(one["actor"], one["action"]["type"], one["message"]) for one in session._outcomes]
            return mend

        return self.run(html, step, before=before)


@pytest.fixture
def script(open_session, site, tmp_path, chromium, lessons):
    return Script(partial(open_session, cdp_url=chromium), site, tmp_path / "home", lessons)
