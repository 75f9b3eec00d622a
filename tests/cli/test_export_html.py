"""`reenact export --html`: a recording as one file, opened by file:// in a real browser."""

from __future__ import annotations

import pytest

import reenact
from reenact.analysis.pages.blocks import Section, StaticPage, table
from reenact.analysis.pages.html import page_html
from tests.browser.watch.shop import buy
from tests.chromium import CHROMIUM
from tests.console import runs

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chrome or Chromium is installed here")
LETTERS = 400_000


@pytest.fixture
def opened(chromium):
    """Opens a file as a double click does. Errors, and requests beyond the file, fail the test."""
    wrong: list[str] = []
    context = chromium.new_context(viewport={"width": 1280, "height": 900})

    def show(file):
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        own = ("file:", "blob:", "data:", "about:")
        page.on("request", lambda asked: None if asked.url.startswith(own) else wrong.append(asked.url))
        page.goto(file.as_uri())
        return page

    yield show
    context.close()
    assert wrong == []


@needs_browser
def test_a_recording_is_one_file_with_conversation_film_timeline_and_steps(run, home, tmp_path, opened):
    recording = buy(home).name
    status, _, err = run("export", recording, "-o", "shop.html")
    assert (status, err.splitlines()[-1].partition(" (")[0]) == (0, "exported to shop.html")
    page = opened(tmp_path / "shop.html")
    assert page.locator("h1").inner_text() == "buy a lamp"
    for heading in ("Film", "Conversation", "Timeline", "What happened"):
        assert page.get_by_role("heading", name=heading).count() == 1
    film = page.frame_locator("iframe.film")
    film.locator("#list [role=option]").first.wait_for()
    assert film.locator("#list [role=option]").count() == 5
    film.locator("#list [role=option]", has_text="Brass lamp").first.click()
    assert page.locator(".lanes rect").count() == 9
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_files_that_a_run_changed_are_in_the_page(shell):
    shell.write("notes.txt", "one\ntwo\n")
    shell.write(
        "agent.py",
        "from pathlib import Path\nnotes = Path('notes.txt')\nnotes.write_text(notes.read_text().replace('two', 'ten'))",
    )
    shell.record("agent.py")
    shell.run("export", "last", "--html", "-o", "page.html")
    written = (shell.folder / "page.html").read_text()
    section = written.partition("<h2>Files</h2>")[2].partition("</section>")[0]
    assert "notes.txt" in section
    assert section.index("-two") < section.index("+ten")


@needs_browser
def test_a_report_has_the_film_too(run, home, tmp_path, opened):
    recording = buy(home).name
    status, _, _ = run("report", recording, "-o", "report.html")
    assert status == 0
    page = opened(tmp_path / "report.html")
    film = page.frame_locator("iframe.film")
    film.locator("#list [role=option]", has_text="Brass lamp").first.click()
    assert film.locator("#strip .thumbnail").count() == 5
    assert page.get_by_role("link", name="Save").count() or page.get_by_text("Save ").count()


CELLS = """() => [...document.querySelectorAll("td")].filter((cell) => cell.textContent.length > 60)
    .map((cell) => cell.getBoundingClientRect().width)"""


@needs_browser
def test_steps_of_a_browser_are_sentences_and_it_does_not_ask_for_an_export(run, home, tmp_path, opened):
    recording = buy(home, consent=False).name
    assert run("export", recording, "-o", "shop.html")[0] == 0
    page = opened(tmp_path / "shop.html")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    shown = page.locator("section", has=page.get_by_role("heading", name="What happened")).inner_text()
    assert "at Shop https://shop.test/shop" in shown
    assert "covered by div#consent" in shown
    assert '{"' not in shown
    assert "success" not in shown
    assert "reenact export" not in page.locator("main").inner_text()
    assert "reenact import" not in page.locator("main").inner_text()


@needs_browser
def test_a_long_word_in_a_table_leaves_room_to_the_texts_beside_it(tmp_path, opened):
    row = (
        "error",
        "5",
        "the arguments do not fit the schema: " * 3,
        f'{{"reasoning":"{"x" * 120}"}}',
        "bad-arguments",
    )
    found = Section("Anomalies", (table(("severity", "step", "what", "evidence", "rule"), [row]),))
    (tmp_path / "page.html").write_text(page_html(StaticPage("run", "", (found,))))
    widths = opened(tmp_path / "page.html").evaluate(CELLS)
    assert len(widths) == 2
    assert min(widths) > 250


@pytest.mark.thorough
@needs_browser
def test_two_recordings_are_compared_in_one_file(run, home, tmp_path, opened):
    good, bad = buy(home).name, buy(home, consent=False).name
    assert run("export", bad, "--html", "--beside", good)[0] == 0
    page = opened(tmp_path / f"{bad}.html")
    page.get_by_role("heading", name="Compared with a good run").wait_for()
    page.frame_locator("iframe.film").locator("#list [role=option]").first.wait_for()


@needs_browser
def test_a_hostile_recording_stays_text(run, home, tmp_path, opened):
    with reenact.record(runs.HOSTILE[:80], home=home) as recording:
        runs.hostile()
    assert run("export", recording.id, "-o", "evil.html")[0] == 0
    page = opened(tmp_path / "evil.html")
    page.get_by_role("heading", name="Conversation").wait_for()
    assert "<script>window.harmed = 1</script>" in page.locator("main").inner_text()
    seen = page.evaluate(
        "[window.harmed ?? null, document.querySelectorAll('script, img, iframe, [onerror]').length,"
        " [...document.links].filter((link) => !link.getAttribute('href').startsWith('#')).length]"
    )
    assert seen == [None, 0, 0]


def test_a_page_has_a_policy_that_allows_no_request(run, home, tmp_path):
    recording = buy(home).name
    assert run("export", recording, "-o", "shop.html")[0] == 0
    head = (tmp_path / "shop.html").read_text()[:2000]
    assert "default-src 'none'" in head
    assert "connect-src" not in head
    assert "unsafe" not in head


def test_a_page_of_very_many_steps_is_bounded_and_says_so(run, home, tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.analysis.report.exported.STEPS", 100)
    with reenact.record("long", home=home) as recording:
        runs.long(300)
    assert run("export", recording.id, "-o", "long.html")[0] == 0
    text = (tmp_path / "long.html").read_text()
    assert len(text) < LETTERS
    assert "200 more steps left out" in text
    assert f"reenact show {recording.id}" in text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-o", "there.html"), "there.html exists; --force replaces it"),
        (("a.html", "-o", "b.html"), "a.html and -o b.html are two files: name one"),
        (("--beside", "last"), "--beside needs a page: --html, or a file NAME.html"),
        (("--html", "--salvage"), "leave out --otlp, --otlp-json and --salvage"),
        (("--html", "--beside", "nothing-like-it"), "nothing-like-it"),
    ],
)
def test_a_page_that_cannot_be_written_is_one_line(run, home, tmp_path, words, told):
    (tmp_path / "there.html").write_text("mine")
    recording = buy(home).name
    status, out, err = run("export", recording, *words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert told in err
    assert (tmp_path / "there.html").read_text() == "mine"


@reenact.tool(kind="model", name="gpt-4o")
def ask(tokens, model="gpt-4o"):
    message = {"role": "assistant", "content": "hi"}
    usage = {"prompt_tokens": tokens, "completion_tokens": 3}
    return {"choices": [{"message": message}], "usage": usage, "model": model}


@needs_browser
def test_the_overview_of_two_runs_fits_on_a_phone(run, home, tmp_path, opened):
    for tokens in (12, 34_567):
        with reenact.record("support agent", home=home):
            ask(tokens)
    run("diff", "last~1", "last", "--html", "diff.html")
    page = opened(tmp_path / "diff.html")
    page.set_viewport_size({"width": 380, "height": 760})
    box = page.locator(".wide-table", has=page.locator("table.numeric")).first
    assert box.locator("td", has_text="$").count() > 0
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
