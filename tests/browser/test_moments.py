"""The page itself is kept at each action: as the browser has it, and without what is secret."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from reenact.browser.camera import moments
from reenact.browser.camera.footage import sessions
from reenact.browser.page.hiding import hide_secrets
from reenact.browser.page.moments import read
from tests.browser.filming import served

driven = pytest.mark.asyncio(loop_scope="session")

SECRETS = [
    "open sesame 1",
    "open sesame 2",
    "open sesame 3",
    "open sesame 4",
    "open sesame 5",
    "open sesame 6",
]
MASK = [".mine", "~the diary of", "xpath=//*[@data-kind='pin']", "xpath=//input[@id='plain']"]
FIELDS = """<!doctype html><title>Fields</title>
<input type=password id=a><input name=apiToken id=b><label>Recovery code <textarea id=c></textarea></label>
<input autocomplete=one-time-code id=d><input class=mine id=e><div contenteditable id=f>&nbsp;</div><input id=plain>
<select id=g><option>red<option>blue</select>
<p id=echo></p><div data-copy='' id=copy title=''></div><p class=diary>the diary of Ada</p><b data-kind=pin>4711-pin</b>
<script>addEventListener('input', (e) => {
  echo.textContent += ` ${e.target.value || e.target.textContent}`; copy.dataset.copy = copy.title = echo.textContent })</script>"""


def kept(folder: Path):
    """The bytes of all moments and of their parts, unpacked."""
    (footage,) = sessions(folder)
    for entry in footage.entries("dom"):
        for address in [entry["blob"], *entry["parts"]]:
            data = footage.blob(address)
            yield zlib.decompress(data, 31) if data[:2] == b"\x1f\x8b" else data


def pages(folder: Path):
    (footage,) = sessions(folder)
    return [(entry, moments.whole(footage, entry["blob"])) for entry in footage.entries("dom")]


def texts(page):
    return "".join(node[2] for node in page["nodes"] if node[1] == "#text")


def by_id(page, id):
    return next(
        node for node in page["nodes"] if len(node) > 2 and node[1] != "#text" and node[2].get("id") == id
    )


def test_no_secret_is_in_any_moment_though_the_page_shows_it_again(open_session):
    with (
        served({"/": FIELDS}) as site,
        open_session(headless=True, mask=MASK) as session,
    ):
        session.execute(type="goto", url=site)
        for id, secret in zip("abcde", SECRETS, strict=False):
            assert session.execute(type="fill", selector=f"#{id}", value=secret).success
        assert session.execute(type="fill", selector="#plain", value=SECRETS[5]).success
        session.execute(type="click", selector="#echo")
    found = pages(Path(session.recording))
    last = found[-1][1]
    assert by_id(last, "a")[3]["filled"] == 1
    assert len(found) > 5
    assert "•••" in texts(last)
    hidden = [*SECRETS, "the diary of Ada", "4711-pin"]
    for data in kept(Path(session.recording)):
        assert [one for one in hidden if one.encode() in data] == []


@pytest.mark.thorough
def test_what_is_typed_into_plain_fields_is_not_kept_either(open_session):
    with (
        served({"/": FIELDS.replace("<script>", "<script>return;")}) as site,
        open_session(headless=True) as session,
    ):
        session.execute(type="goto", url=site)
        session.execute(type="fill", selector="#plain", value="Lovelace")
        session.execute(type="fill", selector="#f", value="Babbage")
        session.execute(type="select_dropdown_option", selector="#g", value="blue")
    _, last = pages(Path(session.recording))[-1]
    assert by_id(last, "plain")[3] == {"filled": 1}
    assert by_id(last, "f")[3] == {"filled": 1}
    assert by_id(last, "g")[3] == {"at": [1]}
    assert not any(
        word in data for data in kept(Path(session.recording)) for word in (b"Lovelace", b"Babbage")
    )


RULES = "".join(f".rule-{number}{{color:red}}" for number in range(100))


@pytest.mark.thorough
def test_a_page_that_an_action_does_not_change_is_kept_once(open_session):
    with served({"/": "<p>Still</p>"}) as site, open_session(headless=True) as session:
        session.execute(type="goto", url=site)
        for _ in range(5):
            session.execute(type="click", selector="p")
    assert [texts(page).strip() for _, page in pages(Path(session.recording))] == ["", "Still"]


COUNTING = """<title>Counting</title><p>0</p><script>
setInterval(() => { document.querySelector('p').textContent++ }, 5)</script>"""


def test_a_click_that_fails_right_after_goto_is_kept_with_the_page_at_its_begin_and_at_its_failure(
    open_session,
):
    with served({"/": COUNTING}) as site, open_session(headless=True) as session:
        session.execute(type="goto", url=site)
        session.execute(type="click", selector="#nowhere", timeout=100, raise_on_failure=False)
    (footage,) = sessions(Path(session.recording))
    (_, goto), failed = (
        [next(e for e in footage.entries(event) if e["call"] == call) for event in ("before", "after")]
        for call in [entry["call"] for entry in footage.entries("before")]
    )
    kept_pages = pages(Path(session.recording))
    begin, failure = ([page for entry, page in kept_pages if entry.t <= at.t][-1] for at in failed)
    assert goto["success"]
    assert not failed[1]["success"]
    assert [page["title"] for page in (begin, failure)] == ["Counting", "Counting"]
    assert int(texts(begin)) < int(texts(failure))


CLOSED = """<!doctype html><link rel=stylesheet href=/far.css><style>{rules}</style><style>@media print{p{color:red}} p{background:url(/pixel)}</style>
<div id=open></div><div id=closed></div><my-part></my-part><div id=declared><template shadowrootmode=closed><i>declared</i></template></div>
<iframe src=/inner name=one></iframe><iframe sandbox srcdoc='<p>boxed</p>'></iframe><iframe src={other}/inner?far></iframe>
<img src=/pixel alt=dot><dialog id=d>Modal</dialog><script>
document.getElementById('open').attachShadow({mode: 'open'}).innerHTML = '<b>open</b><style>b{color:green}</style>'
customElements.define('my-part', class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<i>part</i>' } })
const late = () => document.getElementById('closed').attachShadow({mode: 'closed'}).innerHTML = '<i>late</i>'
document.getElementById('d').showModal()
</script>"""


@pytest.mark.thorough
@driven
async def test_frames_shadow_roots_styles_and_small_pictures_are_in_it(page, site):
    from tests.browser.conftest import PIXEL

    def pixel(handler):
        handler.answer(PIXEL, Content_Type="image/png")

    def css(handler):
        handler.answer("b{color:blue}", Content_Type="text/css")

    inner = "<p>inner <span>frame</span></p>"
    here = {"/": CLOSED.replace("{rules}", RULES), "/inner": inner, "/pixel": pixel, "/far.css": css}
    with served(here) as first, served(here) as second:
        here["/"] = (
            here["/"]
            .replace("{other}", second.replace("127.0.0.1", "localhost"))
            .replace("/far.css", second + "/far.css")
        )
        await hide_secrets(page.context)
        await page.goto(first, wait_until="load")
        taken = await read(page, patience=60)
        assert taken is not None
        nodes = taken.tree["nodes"]
        shown = [node[2] for node in nodes if node[1] == "#text" and node[2].strip()]
        assert set(shown) == {"declared", "part", "open", "Modal", "inner ", "frame", "boxed"}
        assert shown.count("frame") == 2
        assert sum(node[1] == "#shadow" for node in nodes) == 3
        parents = [nodes[node[0]][2].get("name") for node in nodes if node[1] == "#document" and node[0] >= 0]
        assert len(parents) == 3
        assert "one" in parents
        assert any("color: green" in text for text in taken.sheets.values())
        assert any("b{color:blue}" in text for text in taken.sheets.values())
        assert any("rule-99" in text for text in taken.sheets.values())
        assert not any("/pixel" in text for text in taken.sheets.values())
        assert list(taken.pictures.values()) == [PIXEL]
        assert next(node for node in nodes if node[1] == "dialog")[3]["modal"] == 1
        await page.evaluate("late()")
        again = await read(page, patience=60)
        assert again is not None
        assert "late" in [node[2] for node in again.tree["nodes"] if node[1] == "#text"]


@driven
async def test_half_of_a_surrogate_pair_is_read_as_the_replacement_character(page):
    await page.set_content("<p id=p></p>")
    code = r"() => { p.textContent = 'half \ud83d, whole \ud83d\ude00, written \\ud83d' }"
    await page.evaluate(code)
    taken = await read(page)
    texts = [node[2] for node in taken.tree["nodes"] if node[1] == "#text"]
    assert "half \N{REPLACEMENT CHARACTER}, whole \N{GRINNING FACE}, written \\ud83d" in texts


@driven
async def test_reading_it_changes_nothing_in_the_page(page, site):
    await hide_secrets(page.context)
    await page.goto(site("shadow.html"))
    before = await page.content()
    globals_before = await page.evaluate("Object.getOwnPropertyNames(window).length")
    assert await read(page, patience=60) is not None
    assert await page.content() == before
    assert await page.evaluate("Object.getOwnPropertyNames(window).length") == globals_before
    assert await page.evaluate("[...document.querySelectorAll('*')].every((el) => !Object.keys(el).length)")


@pytest.mark.thorough
@driven
@pytest.mark.parametrize(
    "code",
    [
        "for (let i = 0, at = document.body; i < 1500; i++) at = at.appendChild(document.createElement('div'))",
        "document.body.innerHTML = '<p>x</p>'.repeat(40000)",
        "document.body.textContent = 'x'.repeat(5e6)",
    ],
    ids=["deep", "many", "long"],
)
async def test_of_a_page_without_bounds_a_part_is_kept_and_it_says_so(page, site, code):
    await page.goto(site("done.html"))
    await page.evaluate(code)
    taken = await read(page, patience=60)
    assert taken is not None
    assert len(taken.tree["nodes"]) <= 12000
    assert sum(len(node[2]) for node in taken.tree["nodes"] if node[1] == "#text") < 2e6
    assert taken.tree["whole"] is False
