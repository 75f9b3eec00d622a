"""A session from its start to its end: what it records, what ends it, and what it leaves behind."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext

import reenact
from reenact.browser.actions.types import action_of
from reenact.browser.camera.footage import sessions
from reenact.browser.page import live_browser
from reenact.errors import ActionError, SessionError, UsageError


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def labels(recording):
    return [step.label for step in reenact.load(recording).steps]


# -- recordings --------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_session_alone_has_a_recording_of_its_own(open_session, site, home):
    with open_session(home=home) as session:
        session.execute(type="goto", url=site("form.html"))
        assert session.status().status == "active"
        assert session.offset() == 1
    recording = reenact.load(session.recording)
    assert (recording.id, recording.name, recording.status) == (session.id, "browser session", "ok")
    assert labels(session.recording) == ["browser:start", "browser:goto"]
    (film,) = sessions(Path(session.recording))
    kinds = [entry.event for entry in film.entries()]
    assert (film.id, kinds[0], kinds[-1]) == (session.id, "session", "end")
    assert [entry["action"]["type"] for entry in film.entries("before")] == ["goto"]
    assert reenact.core.boundary.current() is None


def test_a_step_names_the_line_of_the_program_that_asked_for_it(open_session, site, home):
    def through_a_function(session):
        session.execute(type="goto", url=site("done.html"))

    with open_session(home=home) as session:
        session.execute(type="goto", url=site("form.html"))
        through_a_function(session)
        session.page.reload()
    (film,) = sessions(Path(session.recording))
    first = through_a_function.__code__.co_firstlineno
    assert [entry["line"] for entry in film.entries("before")] == [
        f"test_session.py:{line}" for line in (first + 4, first + 1, first + 6)
    ]


@pytest.mark.thorough
def test_within_a_recording_sessions_are_part_of_it(open_session, site, home):
    with reenact.record("shop", home=home) as recording, open_session() as one, open_session() as two:
        one.execute(type="goto", url=site("form.html"))
        two.execute(type="goto", url=site("done.html"))
    assert (one.id, two.id) == (f"{recording.id}.1", f"{recording.id}.2")
    assert one.recording == two.recording == recording.path
    assert labels(recording.path) == ["browser:start", "browser:start", "browser:goto", "browser:goto"]
    assert [film.id for film in sessions(Path(recording.path))] == [one.id, two.id]


@pytest.mark.thorough
@pytest.mark.parametrize(("fails", "kept"), [(True, True), (False, False)])
def test_a_recording_can_be_kept_for_failures_alone(open_session, site, home, fails, kept):
    with open_session(home=home, save_replay_on="failure") as session:
        session.execute(type="goto", url=site("form.html"))
        if fails:
            session.execute(type="click", selector="#no", timeout=100, raise_on_failure=False)
    assert Path(session.recording).exists() == kept


@pytest.mark.thorough
def test_an_exception_that_leaves_the_block_is_a_failure(open_session, home):
    with pytest.raises(ZeroDivisionError), open_session(home=home, save_replay_on="failure") as session:
        1 / 0  # noqa: B018
    assert reenact.load(session.recording).status == "error"


@pytest.mark.thorough
def test_a_context_that_lost_the_recording_finds_it_again(open_session, site, home):
    elsewhere = contextvars.copy_context()
    session = open_session(home=home).start()
    try:
        # As in another cell of a notebook, with a loop running there.
        async def cell():
            return session.execute(type="goto", url=site("form.html")).title

        assert elsewhere.run(asyncio.run, cell()) == "Order"
    finally:
        session.stop()
    assert labels(session.recording) == ["browser:start", "browser:goto"]


@pytest.mark.thorough
def test_the_async_twins_do_the_same(open_session, site, home):
    async def program():
        async with open_session(home=home) as session:
            opened, _ = await asyncio.gather(
                session.aexecute(type="goto", url=site("form.html")), asyncio.sleep(0.01)
            )
            seen = await session.aobserve()
            text = await session.ascrape(selector="h1")
            await session.aset_cookies([{"name": "a", "value": "b", "url": site("")}])
            cookies = await session.aget_cookies()
            with pytest.raises(ActionError):
                await session.aexecute(type="click", selector="#no", timeout=100)
            return opened.title, seen.metadata.title, text, cookies[0]["value"], await session.acdp_url()

    title, again, text, cookie, address = asyncio.run(program())
    assert (title, again, text, cookie) == ("Order", "Order", "# Order", "b")
    assert address.startswith("ws://127.0.0.1:")


# -- options -----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"headles": True}, "Session has no option 'headles'; there are "),
        ({"browser_type": "firefox"}, r"browser_type='firefox'\): it is one of 'chromium', 'chrome'"),
        ({"proxies": True}, r"Session\(proxies=…\) belongs to a hosted service"),
        ({"vault_id": "v1"}, r"Session\(vault_id=…\) belongs to a hosted service"),
        ({"idle_timeout_minutes": -1}, "minutes, or 0 for no limit"),
        ({"max_duration_minutes": "10"}, "max_duration_minutes='10'.: minutes, or 0 for no limit"),
        ({"viewport_width": "wide"}, "viewport_width='wide'.: a whole number of CSS pixels"),
        ({"executable_path": "/no/such/browser"}, "there is no such program"),
    ],
)
def test_an_option_that_cannot_be_is_refused(open_session, options, told):
    with (
        pytest.raises((UsageError, SessionError), match=told),
        open_session(save_replay_on="never", **options),
    ):
        pass


def test_an_option_without_effect_is_said_to_have_none(open_session, capsys):
    open_session(open_viewer=True, use_file_storage=False)
    assert capsys.readouterr().err == (
        "reenact: Session(open_viewer=…) has no effect here; `reenact watch` shows a session\n"
    )


@pytest.mark.thorough
def test_the_browser_is_as_the_options_say(open_session, site, home):
    options = {
        "viewport_width": 640,
        "viewport_height": 480,
        "user_agent": "Test/1",
        "chrome_args": ["--lang=de"],
    }
    with open_session(home=home, **options, cookie_file=str(cookies(home))) as session:
        session.execute(type="goto", url=site("form.html"))
        told = session.execute(
            type="evaluate_js", code="[innerWidth, innerHeight, navigator.userAgent, document.cookie]"
        )
        assert told.data == [640, 480, "Test/1", "theme=dark"]


def cookies(folder):
    folder.mkdir()
    file = folder / "cookies.json"
    file.write_text('[{"name": "theme", "value": "dark", "domain": "127.0.0.1"}]')
    return file


@pytest.mark.thorough
def test_another_browser_is_driven_and_left_running(open_session, site, home):
    with open_session(home=home) as one:
        one.execute(type="goto", url=site("form.html"))
        with open_session(home=home, cdp_url=one.cdp_url()) as other:
            assert other.observe().metadata.title == "Order"
        assert one.execute(type="reload").success


# -- what ends it ------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_closed_session_does_nothing_more(open_session, home):
    session = open_session(home=home)
    with pytest.raises(SessionError, match="has not begun: open it by `with`"):
        session.execute(type="reload")
    with session:
        pass
    for call in (session.observe, session.get_cookies, session.cdp_url, session.page.title):
        with pytest.raises(SessionError, match=r"the session is closed \(it was stopped\): start a new one"):
            call()
    with pytest.raises(SessionError, match="cannot be started again"):
        session.start()
    session.stop()
    assert session.status().reason == "it was stopped"


@pytest.mark.thorough
def test_a_browser_whose_end_hangs_does_not_keep_the_program(open_session, site, home, monkeypatch):
    async def hang(context, **options):
        await asyncio.Event().wait()

    monkeypatch.setattr(BrowserContext, "close", hang)
    monkeypatch.setattr(live_browser, "CLOSING", 0.2)
    with open_session(home=home) as session:
        session.execute(type="goto", url=site("form.html"))
    (recording,) = (reenact.load(each) for each in home.glob("recordings/*"))
    assert recording.status == "ok"


def test_a_browser_that_dies_fails_what_follows(open_session, site, home):
    with open_session(home=home, raise_on_failure=False) as session:
        session.execute(type="goto", url=site("form.html"))
        victim = browser_of(session)
        os.kill(victim, signal.SIGKILL)
        until(lambda: session.status().status == "closed")
        failed = session.execute(type="click", selector="#order")
        assert failed.message == "the browser has ended: it crashed, or something closed it"
        assert isinstance(failed.exception, ActionError)
    assert reenact.load(session.recording).status == "ok"


@pytest.mark.thorough
def test_an_idle_session_ends_by_itself(open_session, home):
    with open_session(home=home, idle_timeout_minutes=0.005, raise_on_failure=False) as session:
        until(lambda: session.status().status == "closed")
        failed = session.execute(type="reload")
        assert failed.message == "the session was closed because it was idle for 0.005 minutes"
    with open_session(home=home, max_duration_minutes=0.005, raise_on_failure=False) as session:
        until(lambda: session.status().status == "closed")
        assert "it had run for 0.005 minutes" in session.execute(type="reload").message


def until(holds, seconds=120):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def browser_of(session):
    """The process of a session's browser, by the folder of its profile."""
    profile = f"--user-data-dir={session.core.driver.live._folder}/profile".encode()
    return next(
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit()
        and profile in (words := command(folder).split(b"\0"))
        and not any(one.startswith(b"--type=") for one in words)
    )


def command(folder):
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", ["kill", "interrupt", "exit"])
def test_no_browser_is_left_and_what_was_written_is_a_recording(open_session, site, home, how):
    program = textwrap.dedent(f"""
        import sys, time
        from reenact import Client
        session = Client().Session(chrome_args=["--force-color-profile=srgb"]).start()
        session.execute(type="goto", url={site("form.html")!r})
        print(session.id, flush=True)
        if {how!r} == "exit":
            sys.exit()
        time.sleep(60)
    """)
    environ = {
        **os.environ,
        "REENACT_HOME": str(home),
        "REENACT_BROWSER": open_session().options.executable_path,
    }
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
    )
    id_ = run.stdout.readline().decode().strip()
    if how != "exit":
        run.send_signal(signal.SIGKILL if how == "kill" else signal.SIGINT)
    run.communicate(timeout=120)
    mine = f"reenact-browser-{run.pid}-".encode()
    until(
        lambda: (
            not any(mine in command(folder) for folder in Path("/proc").iterdir() if folder.name.isdigit())
        )
    )
    recording = reenact.load(id_, home=home)
    assert [step.label for step in recording.steps] == ["browser:start", "browser:goto"]
    assert recording.status == ("ok" if how == "exit" else "unsealed") or how == "interrupt"
    assert [entry["success"] for entry in sessions(Path(recording.path))[0].entries("after")] == [True]


@pytest.mark.thorough
def test_an_action_can_be_given_in_any_of_its_forms(open_session, home):
    with open_session(home=home) as session:
        wait = action_of(type="wait", time_ms=1)
        for given in (wait, {"type": "wait", "time_ms": 1}):
            assert session.execute(given).action == wait
        assert session.execute("wait", time_ms=1).action == wait


@pytest.mark.thorough
def test_a_video_of_it_can_be_had_at_any_time(open_session, site, home):
    with open_session(home=home) as session:
        session.execute(type="goto", url=site("form.html"))
        assert session.replay().video_duration_ms > 0
        assert asyncio.run(session.areplay()).video_duration_ms > 0
    later = open_session(session.id, home=home).replay()
    assert later.mp4_url.startswith("http://127.0.0.1:")


@pytest.mark.thorough
def test_downloads_that_nobody_named_a_folder_for_are_gone_with_the_session(open_session, site):
    with open_session(save_replay_on="never", raise_on_failure=False) as session:
        session.execute(type="goto", url=site("downloads.html"))
        path = Path(session.execute(type="download_file", selector="#file").data)
        assert path.read_bytes() == b"a,b\n1,2\n"
        failed = session.execute(type="fill", selector={"css": "h1", "xpath": "//h1"}, value="x", timeout=200)
    assert not path.parent.exists()
    assert "(h1 or //h1)" in failed.message


@pytest.mark.thorough
def test_a_frame_whose_address_is_refused_holds_nothing_up(open_session, site, home):
    """Playwright waits for such a frame until its time is up; 30 s is what it takes by itself, for each look."""
    with open_session(home=home, screenshot_type="none") as session:
        session.execute(type="goto", url=site("form.html"))
        session.execute(
            type="evaluate_js",
            code="document.body.insertAdjacentHTML('beforeend', '<iframe src=file:///etc/passwd></iframe>'), 1",
        )
        began = time.monotonic()
        seen = session.observe()
        assert "Order" in session.scrape()
        assert "Order" in seen.space.description
        assert time.monotonic() - began < 25
