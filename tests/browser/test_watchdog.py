"""No action waits without end for a page whose script does not end."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from reenact.browser.page import watchdog

ENDLESS = "<title>Endless</title><p>here<script>setTimeout(() => { while (true); }, 200)</script>"
ALWAYS_BUSY = """<title>Busy</title><script>
setTimeout(function again() {
    setTimeout(again)
    for (const end = Date.now() + 60000; Date.now() < end;);
}, 200)
</script>"""


@pytest.fixture
def session(open_session, monkeypatch):
    monkeypatch.setattr(watchdog, "SILENT", 5.0)
    with open_session(idle_timeout_minutes=60, max_duration_minutes=60) as one:
        yield one


@pytest.mark.thorough
def test_a_script_that_does_not_end_is_stopped_and_the_action_goes_on(session, site):
    session.execute(type="goto", url=site(f"echo?html={quote(ENDLESS)}"))
    session.execute(type="wait", time_ms=500)
    told = session.execute(type="scrape")
    assert told.success
    assert told.data == "here"
    said = told.message + session.execute(type="scrape").message
    assert "the page did not answer for 5 s: its script was stopped" in said


@pytest.mark.thorough
def test_a_tab_that_still_does_not_answer_is_closed_and_the_session_goes_on(session, site):
    session.execute(type="goto", url=site(f"echo?html={quote(ALWAYS_BUSY)}"))
    session.execute(type="wait", time_ms=500)
    told = session.execute(type="scrape", raise_on_failure=False)
    assert not told.success
    assert "it still did not answer: the tab was closed" in told.message
    assert session.execute(type="goto", url=site("form.html")).success
