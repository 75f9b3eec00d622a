"""The viewer: recordings' files, exported pages, zip files and folders, dropped into a page of no server."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import struct
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import orjson
import pytest

import reenact
from reenact.analysis.pages import html as pages
from tests.browser.watch.shop import SIZE, buy, picture, see
from tests.chromium import CHROMIUM
from tests.console import runs

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chrome or Chromium is installed here")


@pytest.fixture
def viewer(run, tmp_path, chromium):
    """Opens the viewer as a double click does. Errors, and requests beyond the file, fail the test."""
    assert run("export", "--viewer", "viewer.html")[0] == 0
    yield from watched(chromium, (tmp_path / "viewer.html").as_uri())


@pytest.fixture
def hosted(run, tmp_path, chromium):
    """Opens the viewer as a plain server of files hosts it."""
    (tmp_path / "site").mkdir()
    assert run("export", "--viewer", "site/index.html")[0] == 0
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield from watched(chromium, f"http://127.0.0.1:{server.server_port}/")
        finally:
            server.shutdown()


def watched(chromium, address):
    """Give the page at an address; fail the test if something goes wrong in it."""
    wrong: list[str] = []
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    # With the first listener, Playwright has the browser hand its choosers over; a key may come before that is done.
    page.on("filechooser", lambda _: None)
    own = (address, "file:", "blob:", "data:", "about:")
    page.on("request", lambda asked: None if asked.url.startswith(own) else wrong.append(asked.url))
    page.goto(address)
    page.hostile = False
    yield page
    context.close()
    # Of a hostile page the browser notes each attribute that it would run in another document.
    noted = (
        "both allow-scripts and allow-same-origin",
        *(["Applying inline", "Executing inline"] if page.hostile else []),
    )
    assert [text for text in wrong if not any(part in text for part in noted)] == []


@pytest.fixture
def shop(run, home, tmp_path):
    """An exported recording of a browser session, with the pages themselves."""
    recording = buy(home, dom=True).name
    assert run("export", recording, "-o", "shop.reenact")[0] == 0
    return tmp_path / "shop.reenact"


def drop(page, path, at="#shown"):
    """Drop a file or a folder as a file manager does: it comes in at the top."""
    box = page.locator(at).bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + min(box["height"] / 2, 200)}
    dragged = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind, where in (
        ("dragEnter", {"x": 5, "y": 5}),
        ("dragOver", {"x": 5, "y": 9}),
        ("dragOver", place),
        ("drop", place),
    ):
        session.send("Input.dispatchDragEvent", {"type": kind, "data": dragged, **where})


def chosen(page, path, button="Open a file"):
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name=button).click()
    choosing.value.set_files(path)


def problem(page):
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "\n" not in alert.inner_text()
    return alert.inner_text()


def test_a_dropped_recording_shows_what_its_exported_page_shows(viewer, shop, run, tmp_path):
    assert run("export", shop, "-o", "shop.html")[0] == 0
    drop(viewer, shop)
    viewer.get_by_role("heading", name="buy a lamp", exact=True).wait_for()
    shown = viewer.locator("#shown").inner_text()
    film = viewer.frame_locator("iframe.film")
    film.locator("#list [role=option]", has_text="Brass lamp").first.click()
    assert film.locator("#list [role=option]").count() == 5
    film.get_by_role("tab", name="Page").click()
    film.frame_locator(".moment iframe").get_by_role("button", name="Accept all").wait_for()
    other = viewer.context.new_page()
    other.goto((tmp_path / "shop.html").as_uri())
    # The page of the file names the file as its reader has it, the exported page as it lies here.
    assert shown == other.locator("body").inner_text().replace(str(shop), "shop.reenact")
    assert {"Question", "Conversation", "Timeline", "What happened"} <= {*shown.splitlines()}


def test_a_file_is_opened_by_the_keyboard_and_another_one_after_it(viewer, shop, home, run, tmp_path):
    with reenact.record("support", home=home) as recording:
        runs.long(3)
    assert run("export", recording.id, "-o", "support.html")[0] == 0
    viewer.keyboard.press("Tab")
    with viewer.expect_file_chooser() as choosing:
        viewer.keyboard.press("Enter")
    choosing.value.set_files(shop)
    viewer.get_by_role("heading", name="buy a lamp", exact=True).wait_for()
    assert viewer.evaluate("document.activeElement.textContent") == "buy a lamp"
    chosen(viewer, tmp_path / "support.html")
    viewer.get_by_role("heading", name="support", exact=True).wait_for()
    assert viewer.locator("iframe").count() == 0
    assert viewer.title() == "support"


def test_a_file_is_dropped_onto_the_film_of_another_one(viewer, shop, run, home):
    drop(viewer, shop)
    viewer.frame_locator("iframe.film").locator("#list [role=option]").first.wait_for()
    viewer.locator("iframe.film").scroll_into_view_if_needed()
    other = buy(home, consent=False).name
    assert run("export", other, "-o", "again.reenact")[0] == 0
    drop(viewer, shop.with_name("again.reenact"), at="iframe.film")
    viewer.get_by_role("heading", name="buy a lamp, again").wait_for()


def artifact(folder, shop):
    """The files of a CI job: two recordings below folders, and what is none."""
    for name in ("a", "b/c"):
        (folder / name).mkdir(parents=True)
        shutil.copy(shop, folder / name / "shop.reenact")
    (folder / "junit.xml").write_text("<testsuite/>")
    return folder


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_of_a_ci_artifact_one_file_is_chosen_from_a_list(hosted, shop, tmp_path, packed):
    folder = artifact(tmp_path / "artifact", shop)
    given = shutil.make_archive(str(tmp_path / "artifact"), "zip", folder) if packed else folder
    drop(hosted, given)
    hosted.get_by_role("heading", name="2 files").wait_for()
    files = hosted.locator(".choice button")
    names = [name.removeprefix("artifact/") for name in files.all_inner_texts()]
    assert names == ["a/shop.reenact", "b/c/shop.reenact"]
    files.last.click()
    hosted.get_by_role("heading", name="buy a lamp", exact=True).wait_for()
    hosted.get_by_role("button", name="All 2 files").click()
    files.first.wait_for()


def test_a_folder_that_the_browser_does_not_read_is_chosen_by_a_button(viewer, shop, tmp_path):
    folder = artifact(tmp_path / "artifact", shop)
    drop(viewer, folder)
    assert "choose it by “Open a folder”" in problem(viewer)
    chosen(viewer, folder, "Open a folder")
    viewer.get_by_role("heading", name="2 files").wait_for()
    assert not viewer.get_by_role("alert").is_visible()


def test_a_zip_of_one_recording_opens_at_once(viewer, shop, tmp_path):
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.write(shop, "x/shop.reenact")
    chosen(viewer, tmp_path / "one.zip")
    viewer.get_by_role("heading", name="buy a lamp", exact=True).wait_for()
    assert not viewer.locator("#back").is_visible()


def test_a_page_of_watch_and_a_report_are_shown_too(viewer, run, home, tmp_path):
    recording = buy(home).name
    assert run("watch", recording, "-o", "watch.html")[0] == 0
    assert run("report", recording, "-o", "report.html")[0] == 0
    for name in ("watch.html", "report.html"):
        chosen(viewer, tmp_path / name)
        viewer.locator("#name", has_text=name).wait_for()
        viewer.frame_locator("iframe.film").locator("#list [role=option]").first.wait_for()


def test_the_pictures_of_a_prompt_are_shown_in_the_conversation_and_beside_the_film(
    viewer, run, home, tmp_path
):
    recording = see(home, base64.b64encode(picture("item")).decode()).name
    assert run("export", recording, "-o", "see.reenact")[0] == 0
    drop(viewer, tmp_path / "see.reenact")
    width = "image => image.decode().then(() => image.naturalWidth)"
    assert viewer.locator("img.shown").evaluate(width) == SIZE[0]
    film = viewer.frame_locator("iframe.film")
    film.get_by_role("option", name="Brass lamp").click()
    film.get_by_role("tab", name="Model").click()
    assert film.locator(".message img").evaluate(width) == SIZE[0]


def test_a_hostile_recording_stays_text(viewer, run, home, tmp_path):
    with reenact.record(runs.HOSTILE[:80], home=home) as recording:
        runs.hostile()
    assert run("export", recording.id, "-o", "evil.reenact")[0] == 0
    drop(viewer, tmp_path / "evil.reenact")
    viewer.get_by_role("heading", name="Conversation").wait_for()
    assert "<script>window.harmed = 1</script>" in viewer.locator("#shown").inner_text()
    assert viewer.evaluate("window.harmed ?? null") is None


EVIL = f"""<!doctype html><html><head><meta name="reenact-page" content="{pages.NUMBER}"><title>evil</title>
<meta http-equiv="refresh" content="0;url=https://evil.example/"><base href="https://evil.example/"></head>
<body onload="harmed=1" class="over wide"><header class="top"><h1 onclick="harmed=2" style="position:fixed">evil</h1></header><main>
<script>harmed = 3</script><img src="https://evil.example/a.png" onerror="harmed=4"><img src="data:image/svg+xml,<svg/>">
<a href="javascript:harmed=5">go</a> <a href="https://evil.example/">out</a> <a href="#inside">in</a>
<iframe src="https://evil.example/"></iframe><iframe srcdoc="<script>parent.harmed=6</script>"></iframe>
<form action="https://evil.example/"><button>send</button></form><input autofocus onfocus="harmed=7">
<svg><a href="https://evil.example/"><rect x="1"/></a><animate onbegin="harmed=8"/><foreignObject><p>in</p></foreignObject>
<use href="https://evil.example/x.svg#a"/><style>@import 'https://evil.example/'</style></svg>
<link rel="stylesheet" href="https://evil.example/"><template><p>hidden</p></template><math><mi>x</mi></math>
<p id="problem" role="alert" tabindex="9" class="a;b">told</p><object data="https://evil.example/"></object>
<video src="https://evil.example/a.mp4" autoplay></video><p id="inside">ends</p>
FILM</main></body></html>"""


def film(**slots):
    """The frame of a film whose data is not what a player expects."""
    parts = "".join(f'<script type="text/plain" id="{name}">{text}</script>' for name, text in slots.items())
    markup = parts.replace("&", "&amp;").replace('"', "&quot;")
    return f'<iframe class="film" srcdoc="{markup}"></iframe>'


def packed(value):
    return base64.b64encode(gzip.compress(orjson.dumps(value))).decode()


def evil(tmp_path, markup, name="evil.html"):
    (tmp_path / name).write_text(EVIL.replace("FILM", markup))
    return tmp_path / name


def test_of_a_hostile_page_only_known_elements_and_attributes_are_built(viewer, tmp_path):
    viewer.hostile = True
    drop(viewer, evil(tmp_path, "<p>last</p>"))
    viewer.get_by_role("heading", name="evil").wait_for()
    viewer.get_by_text("go").click()
    found = viewer.evaluate(
        "[...document.querySelectorAll('#shown *')].flatMap((one) =>"
        " [one.localName, ...Array.from(one.attributes, (each) => `${one.localName} ${each.name}`)])"
    )
    assert {name for name in found if " " not in name} <= {
        "a",
        "header",
        "h1",
        "img",
        "main",
        "p",
        "span",
        "svg",
    }
    assert {name for name in found if " " in name} <= {
        "a href",
        "h1 tabindex",
        "header class",
        "p id",
    }
    assert viewer.evaluate("[window.harmed ?? null, document.baseURI === location.href]") == [None, True]
    assert "last" in viewer.locator("#shown").inner_text()


def test_a_hostile_film_runs_nothing_and_fetches_nothing(viewer, tmp_path):
    data = {"sides": [{"file": "//evil.example/a.mp4", "rows": []}], "together": None, "settings": {}}
    script = "<img src=x onerror='parent.harmed = 1'>"
    viewer.hostile = True
    drop(viewer, evil(tmp_path, film(data=packed(data), rest=packed([{}]), **{"video-0": script})))
    frame = viewer.frame_locator("iframe.film")
    frame.locator("#problem").wait_for()
    assert "This page cannot be shown" in frame.locator("#problem").inner_text()
    assert viewer.evaluate("window.harmed ?? null") is None
    assert frame.locator("#video-0").count() == 0


def test_a_film_that_unpacks_without_end_stops_at_its_limit(viewer, tmp_path):
    bomb = base64.b64encode(gzip.compress(b" " * 400_000_000, 9)).decode()
    viewer.hostile = True
    drop(viewer, evil(tmp_path, film(data=bomb, rest=packed([{}]))))
    frame = viewer.frame_locator("iframe.film")
    frame.locator("#problem", has_text="unpacks to more than 300 MB").wait_for()


def bomb(path):
    """A recording's file whose page says that it is small."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("page.html", b"<p>" + b" " * 200_000_000)
    data = path.read_bytes()
    sizes = struct.pack("<I", 200_000_003)
    path.write_bytes(data.replace(sizes, struct.pack("<I", 1_000)))


def zipped(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)


def changed(path):
    """A recording's file with a page whose bytes were changed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("page.html", "<p>one</p>")
    path.write_bytes(path.read_bytes().replace(b"<p>one</p>", b"<p>two</p>", 1))


OTHER = EVIL.replace(f'content="{pages.NUMBER}"', 'content="99"')
WRONG = {
    "text.reenact": (lambda path: path.write_text("hello"), "is no recording's file, and no page"),
    "empty.html": (lambda path: path.write_text(""), "is no recording's file, and no page"),
    "page.html": (lambda path: path.write_text("<p>hello"), "is no recording's file, and no page"),
    "later.html": (lambda path: path.write_text(OTHER), "was written by another version of Reenact"),
    "old.reenact": (lambda path: zipped(path, manifest_json="{}", events_jsonl="{}"), "has no page in it"),
    "other.zip": (lambda path: zipped(path, readme_txt="hello"), "is a zip file without a recording's file"),
    "bomb.reenact": (bomb, "is damaged"),
    "changed.reenact": (changed, "is damaged"),
    "torn.reenact": (lambda path: path.write_bytes(b"PK\3\4" + bytes(100)), "is damaged"),
    "tags.html": (lambda path: path.write_text("<" * 1_000_001), "is too large for this page"),
}


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_one_line_and_the_next_one_opens(viewer, shop, tmp_path, name):
    make, told = WRONG[name]
    make(tmp_path / name)
    drop(viewer, tmp_path / name)
    assert problem(viewer).startswith(f"{name} {told}")
    drop(viewer, shop)
    viewer.get_by_role("heading", name="buy a lamp", exact=True).wait_for()
    assert not viewer.get_by_role("alert").is_visible()


def test_a_file_without_a_page_gets_one_by_the_command_that_is_named(viewer, run, home, shop, tmp_path):
    with zipfile.ZipFile(shop) as whole, zipfile.ZipFile(tmp_path / "old.reenact", "w") as archive:
        for name in whole.namelist():
            if name != "page.html":
                archive.writestr(name, whole.read(name))
    drop(viewer, tmp_path / "old.reenact")
    command = re.search(r"reenact (export .*)$", problem(viewer))[1]
    assert run(*command.split())[0] == 0
    (made,) = (path for path in tmp_path.glob("*.html") if path.name != "viewer.html")
    drop(viewer, made)
    viewer.get_by_role("heading", name="buy a lamp", exact=True).wait_for()


def test_the_page_of_a_file_is_no_part_of_the_recording(run, home, shop, tmp_path):
    with zipfile.ZipFile(shop) as archive:
        assert "page.html" in archive.namelist()
        assert "page.html" not in orjson.loads(archive.read("manifest.json"))["members"]
    assert run("import", shop, "--home", tmp_path / "other")[0] == 0
    assert not [*(tmp_path / "other").rglob("page.html")]


def test_the_viewer_allows_no_request_and_only_its_own_scripts(run, tmp_path):
    assert run("export", "--viewer", "own.html")[0] == 0
    head = (tmp_path / "own.html").read_text()[:3000]
    assert "default-src 'none'" in head
    assert "connect-src" not in head
    assert "unsafe" not in head
    status, _, err = run("export", "--viewer", "own.html")
    assert (status, err.strip()) == (2, "reenact: own.html exists; --force replaces it")
