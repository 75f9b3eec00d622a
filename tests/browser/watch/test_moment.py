"""The page itself in the player: selectors find in it what they found in the live page, and nothing in it runs."""

from __future__ import annotations

import random
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from reenact.browser.camera import moments
from reenact.browser.camera.footage import sessions
from reenact.browser.page import inspection
from reenact.browser.page.moments import read
from reenact.browser.page.parsing import parse
from reenact.browser.watch import html
from reenact.browser.watch.engine import engine, playwright_source
from tests.browser.filming import filmed, served

pytestmark = pytest.mark.asyncio(loop_scope="session")

MARK_ONE = (
    "(el) => `${el.localName}#${el.id}|${el.localName === 'textarea' ? '' : "
    "[...el.childNodes].map((one) => one.nodeType === 3 ? one.data : '').join(' ').replace(/\\s+/g, ' ').trim()}`"
)
MARK = f"(all) => all.map({MARK_ONE})"
PLAYER = f"""{html.asset("moment.js").replace("export ", "")}
const ENGINE = {engine()};
async function built(moment, own = ENGINE) {{
  document.querySelector('iframe')?.remove();
  const frame = quietFrame(document);
  [frame.width, frame.height] = moment.viewport;
  document.body.append(frame);
  window.shown = await new BuiltMoment(moment).into(frame);
  window.finder = new Finder(window.shown, own);
}}
const mark = {MARK_ONE};
const found = (text) => {{ try {{ return window.finder.all(text).map(mark); }} catch {{ return 'bad'; }} }};
"""


@pytest_asyncio.fixture(loop_scope="session")
async def player(browser):
    """A page with the player's code, in which moments are built; what goes wrong in it fails the test."""
    context = await browser.new_context(viewport={"width": 1000, "height": 700})
    page = await context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    context.on(
        "request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None
    )
    await page.set_content("<!doctype html><title>Player</title><body>")
    await page.add_script_tag(content=PLAYER)
    yield page
    await context.close()
    assert wrong == []


async def live(page, text):
    """The elements that a selector names in a live page, as a session looks for them."""
    (one,) = parse(text)
    for frame in page.frames:
        if one.frames and frame != page.main_frame:
            break
        told = await one.within(frame).evaluate_all(MARK)
        # In the page's own world Playwright does not see closed shadow roots, in its own it does.
        if count := await one.within(frame).count():
            return [count, *told]
    return [0]


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    monkeypatch.setattr(inspection, "_PATIENCE", 60)


@asynccontextmanager
async def moment_of(browser, folder, content, act="0"):
    """A moment of a page as it is read from its recording, and the live page."""
    async with filmed(browser, folder) as (page, camera):
        with served({"/": content, **FRAMES}) as site:
            await page.goto(site)
            await page.evaluate(act)
            assert (
                await inspection.open_closed(page) or content is not SHOP
            )  # as a session does before it finds nothing
            camera.moment(page, await read(page, patience=60), "before")
            (footage,) = sessions(folder)
            (entry,) = list(footage.entries("dom"))
            yield moments.whole(footage, entry["blob"]), page


FRAMES = {
    "/pay": "<!doctype html><title>Pay</title><label>Card <input id=card></label><button id=pay>Pay now</button><iframe src=/deep></iframe>",
    "/deep": "<p>Deep <button>Deepest</button></p>",
}
SHOP = """<!doctype html><title>Shop</title><style>.gone{display:none} .up{text-transform:uppercase} nav ul li a{color:teal}</style>
<header><nav aria-label=Main><ul><li><a href=/a>Lamps</a><li><a href=/b class=on>Tables &amp; chairs</a><li><a>No link</a></ul></nav></header>
<main><h1>Our shop</h1><h2 class=up>Lamps</h2>
<form id=f><label for=q>Search</label><input id=q name=q type=search placeholder="Name of a lamp"><input type=submit value=Find>
<label><input type=checkbox checked>In stock</label><input type=radio name=r aria-label=One><input type=radio name=r aria-label=Two>
<select aria-label=Sort><option>Price<option selected>Name</select><textarea aria-label=Note>typed</textarea>
<button disabled>Refund</button><button type=button aria-pressed=true data-testid=like title="I like it">♥</button></form>
<table><caption>Orders</caption><tr><th>No<th>Sum<tr><td>1<td>12,00<tr><td>2<td>7,50</table>
<article><h3>Arc</h3><p>A <b>brass</b> lamp</p><button>Buy</button></article><article><h3>Bow</h3><p>A steel lamp</p><button>Buy</button></article>
<p class=gone>Hidden text <button>Hidden</button></p><p aria-hidden=true>Silent</p><img src=/x.png alt="A picture of a lamp">
<details><summary>More</summary><p>Inside</p></details><script>var x = 'Lamps'</script><template><p>Lamps</p></template>
<my-card><span slot=t>Slotted</span></my-card><div id=host></div><div id=closed></div>
<svg width=20 height=20 role=img aria-label=Star><title>Star</title><path d="M0 0h9v9z"/></svg>
<iframe id=one name=payment src=/pay></iframe><iframe srcdoc="<button>Boxed</button>"></iframe></main>
<dialog id=d aria-label=Sure><button>Yes</button></dialog>
<script>
host.attachShadow({mode: 'open'}).innerHTML = '<style>:host{display:block}</style><button class=s>In shadow</button><slot></slot>';
document.getElementById('closed').attachShadow({mode: 'closed'}).innerHTML = '<button>In closed</button>';
customElements.define('my-card', class extends HTMLElement { constructor() { super();
  this.attachShadow({mode: 'open'}).innerHTML = '<section><slot name=t></slot><a href=#>Card link</a></section>' } });
</script>"""
SELECTORS = [
    "button", "css=article > h3", "#host .s", "my-card a", "a[href]", "[data-testid=like]", "nav li:nth-child(2) > a", "img[src*=x]",
    "text=Lamps", "text='Lamps'", "text=/^lam/i", "~lamp", "~Slotted", "button:has-text('Buy')", "article:has(h3:text('Bow')) button",
    "article >> nth=1", "article >> nth=-1 >> button", "button:visible", ":text-is('Buy')", "h2:right-of(nav)", "form >> visible=true",
    "role=button", "role=button[name='Buy']", "role=link", "role=heading[level=2]", "role=checkbox[checked]", "role=button[pressed]",
    "role=option[selected]", "role=button[disabled]", "role=button[include-hidden]", "role=table", "role=cell", "role=img", "role=searchbox",
    "role=row >> text=12,00", "role=dialog", "role=textbox", "role=navigation[name='Main']", "role=button[name=/^in/i]",
    "//article/button", "xpath=//td[2]", "xpath=/html/body/main/h1", "..", "data-testid=like", "id=q", "css=input[value=Find]",
    'get_by_role("button", name="Buy").nth(1)', 'get_by_role("button", name="Buy", exact=True)', 'get_by_label("Search")', 'get_by_label("Note")',
    'get_by_placeholder("name of")', 'get_by_alt_text("picture")', 'get_by_title("I like it", exact=True)', 'get_by_test_id("like")',
    'get_by_text("Our shop")', 'get_by_text(re.compile("^A (brass|steel)"))', 'locator("article").filter(has_text="Bow").get_by_role("button")',
    'locator("article").filter(has=get_by_text("brass"))', 'locator("article").last.locator("p")', 'frame_locator("#one").get_by_role("button")',
    'locator("#one").content_frame.get_by_label("Card")', "frame=#one >> button", "frame=iframe[src='/pay'] >> frame=iframe >> text=Deepest",
    "frame=iframe >> button", "text=Boxed", "text=Pay now", "#pay", "text=In closed", "text=No such text", "select option", "summary", "role=group",
]  # fmt: skip
ACTS = {
    "as it came": "0",
    "with a dialog": "document.getElementById('d').showModal(); document.querySelector('details').open = true; document.querySelector('option').selected = true",
    "changed": "document.querySelector('article').remove(); document.querySelector('.gone').className = ''; document.querySelector('[type=checkbox]').checked = false;"
    " document.styleSheets[0].insertRule('h1{display:none}', 0)",
    "long": "document.body.append(...Array.from({length: 300}, (_, at) => Object.assign(document.createElement('p'), {textContent: 'Row ' + at}))); scrollTo(0, 900)",
}


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
async def test_a_selector_finds_in_a_moment_what_it_found_in_the_live_page(browser, player, tmp_path, act):
    async with moment_of(browser, tmp_path, SHOP, act) as (moment, page):
        await player.evaluate("(moment) => built(moment)", moment)
        wanted, told = {}, {}
        for text in SELECTORS:
            try:
                wanted[text] = await live(page, text)
            except Exception:
                wanted[text] = "bad"
            all = await player.evaluate("(text) => found(text)", text)
            told[text] = (
                all if all == "bad" else [len(all), *(each for each in all if "In closed" not in each)]
            )
        assert {text: [told[text], all] for text, all in wanted.items() if told[text] != all} == {}
        assert sum(1 for all in wanted.values() if all[0] and all != "bad") > 50


@pytest.mark.thorough
async def test_a_generated_page_is_built_with_the_same_elements_at_the_same_places(browser, player, tmp_path):
    chance = random.Random(22)
    tags = [
        "div",
        "p",
        "span",
        "ul",
        "li",
        "section",
        "button",
        "b",
        "a href=#",
        "h3",
        "table",
        "tr",
        "td",
        "x-y",
        "style",
        "script type=no",
        "input",
    ]
    parts = [f"<{tag} id=n{n}>{'' if tag == 'input' else 'text ' * chance.randint(0, 2)}{'' if chance.random() < 0.5 or tag == 'input' else f'</{tag.split()[0]}>'}"
             for n in range(400) for tag in [chance.choice(tags)]]  # fmt: skip
    outline = "(root) => [...root.querySelectorAll('body *')].map((el) => [el.id, el.parentElement.id, [...el.parentElement.children].indexOf(el)].join())"
    async with moment_of(browser, tmp_path, f"<!doctype html><title>T</title><body>{''.join(parts)}") as (
        moment,
        page,
    ):
        await player.evaluate("(moment) => built(moment)", moment)
        there = await page.evaluate(f"({outline})(document)")
        here = await player.evaluate(f"({outline})(shown.frames[0].document)")
        kept = "style,script"
        plain = await page.evaluate(f"() => [...document.querySelectorAll('{kept}')].map((el) => el.id)")
        assert len(here) == len(there) > 150
        assert [one for one in there if one.split(",")[0] not in ["", *plain]] == [
            one for one in here if one.split(",")[0]
        ]


@pytest.mark.thorough
async def test_it_looks_as_the_page_did(browser, player, tmp_path):
    boxes = "(root) => ['h1', '#q', 'table', '#host', 'article:last-of-type button', 'my-card'].map((one) => { const box = root.querySelector(one).getBoundingClientRect();"
    boxes += " return [box.x, box.y, box.width, box.height].map(Math.round) })"
    async with moment_of(browser, tmp_path, SHOP) as (moment, page):
        await player.evaluate("(moment) => built(moment)", moment)
        assert await player.evaluate(f"({boxes})(shown.frames[0].document)") == await page.evaluate(
            f"({boxes})(document)"
        )


EXPRESSIONS = [
    'get_by_role("button", name="a \\"quoted\\" name")', "get_by_role('link', name='it\\'s', exact=True).first", 'get_by_role("row", level=2, checked=False)',
    'get_by_role("button", name=re.compile("sa(v|n)e", re.IGNORECASE))', 'get_by_text("a >> b", exact=True)', 'get_by_label(re.compile(r"^Na\\w+"))',
    'get_by_placeholder("x", exact=False)', 'page.locator("ul").locator("li").nth(2)', 'locator("li").filter(has_not_text="x").last',
    'locator("li", has_text="x")', 'locator("li").filter(has=get_by_role("button", name="x"))', 'locator("li").filter(has_not=locator("b"))',
    'frame_locator("#a").frame_locator("#b").get_by_text("x")', 'get_by_test_id("a-b")', 'locator("li").filter(visible=True)', "~some text",
    'get_by_role("textbox", include_hidden=True)', 'get_by_title("t\\u00e4g")', "css=a", "text=x", 'locator("#f").content_frame.locator("b")',
]  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("text", EXPRESSIONS)
async def test_an_expression_means_what_playwright_makes_of_it(page, player, text):
    (one,) = parse(text)
    assert (
        await player.evaluate("(text) => parsedSelector(text)", text) == one.within(page)._impl_obj._selector
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "",
        "~",
        "css=",
        "frame=#a",
        "get_by_role(",
        "get_by_role('x') + 1",
        "get_by_role('x').evaluate('1')",
        "locator(alert(1))",
        "get_by_text('x",
        "a[",
        "nonsense=1",
    ],
)
async def test_a_selector_that_does_not_parse_is_said(player, text):
    await player.evaluate("(moment) => built(moment)", plain_page())
    assert await player.evaluate("(text) => found(text)", text) == "bad"


async def test_without_playwrights_script_only_css_and_xpath_are_understood(player):
    await player.evaluate("(moment) => built(moment, null)", plain_page([2, "p"], [3, "#text", "Hello"]))
    assert await player.evaluate("() => [found('p'), found('css=p'), found('//p'), found('text=Hello')]") == [
        ["p#|Hello"]
    ] * 3 + ["bad"]


async def test_the_installed_playwright_has_the_script():
    assert "InjectedScript" in playwright_source()


@pytest.mark.thorough
async def test_what_is_known_of_an_element_names_it_alone(browser, player, tmp_path):
    async with moment_of(browser, tmp_path, SHOP) as (moment, _):
        await player.evaluate("(moment) => built(moment)", moment)
        for text in [
            "[data-testid=like]",
            "#host .s",
            "frame=#one >> #pay",
            "article >> nth=0 >> button",
            "role=searchbox",
            "text=Deepest",
        ]:
            known = await player.evaluate("(text) => finder.of(finder.all(text)[0])", text)
            assert known["role"] in {"button", "searchbox"}
            assert known["selectors"]
            for one in known["selectors"]:
                assert await player.evaluate(
                    "([one, text]) => finder.all(one).length === 1 && finder.all(one)[0] === finder.all(text)[0]",
                    [one, text],
                )
        like = await player.evaluate("() => finder.of(finder.all('[data-testid=like]')[0])")
        assert like["name"] == "♥"
        assert like["selectors"][0] == '[data-testid="like"]'


# -- hostile -----------------------------------------------------------------------------------------------------


def plain_page(*nodes, parts=()):
    begin = [[-1, "#document", {}, {}], [0, "html"], [1, "body"]]
    return {
        "url": "",
        "title": "",
        "viewport": [800, 600],
        "whole": True,
        "parts": list(parts),
        "nodes": [*begin, *map(list, nodes)],
    }


RUN = "parent.bad = top.bad = 1; alert(1)"
HOSTILE = [
    [2, "script", {"src": "http://evil.test/a.js"}], [3, "#text", RUN], [2, "img", {"src": "http://evil.test/b.png", "onerror": RUN, "srcset": "http://evil.test/c.png"}],
    [2, "img", {"src": "x", "onerror": RUN}, {"image": 0}], [2, "img", {"src": "http://evil.test/p.png"}, {"natural": [5, 5]}],
    [2, "iframe", {"src": f"javascript:{RUN}", "srcdoc": f"<script>{RUN}</script>", "sandbox": "allow-scripts allow-same-origin allow-top-navigation"}],
    [2, "iframe", {"src": "http://evil.test/frame", "onload": RUN}], [2, "object", {"data": "http://evil.test/o"}], [2, "embed", {"src": "http://evil.test/e"}],
    [2, "link", {"rel": "stylesheet", "href": "http://evil.test/l.css"}], [2, "meta", {"http-equiv": "refresh", "content": "0;url=http://evil.test/m"}],
    [2, "base", {"href": "http://evil.test/"}], [2, "a", {"href": f"javascript:{RUN}", "ping": "http://evil.test/ping", "id": "link"}], [2, "a", {"href": f" \tjava\nscript:{RUN}"}],
    [2, "form", {"action": f"javascript:{RUN}"}], [2, "button", {"formaction": f"javascript:{RUN}", "onclick": RUN}], [2, "input", {"type": "image", "src": "http://evil.test/i.png"}],
    [2, "input", {"autofocus": "", "onfocus": RUN}], [2, "body", {"onload": RUN, "background": "http://evil.test/bg"}], [2, "video", {"src": "http://evil.test/v", "poster": "http://evil.test/po", "autoplay": ""}],
    [2, "audio", {"src": "http://evil.test/a"}], [2, "source", {"src": "http://evil.test/s"}], [2, "details", {"open": "", "ontoggle": RUN}],
    [2, "div", {"style": "background:url(http://evil.test/1);background-image:url( 'http://evil.test/2' )", "id": 'x"><script>alert(1)</script>'}],
    [2, "svg", {"onload": RUN}, {"svg": 1}], [27, "script", {}, {"svg": 1}], [28, "#text", RUN], [27, "animate", {"attributeName": "href", "values": f"javascript:{RUN}"}, {"svg": 1}],
    [27, "use", {"href": "http://evil.test/u.svg#a"}, {"svg": 1}], [27, "image", {"href": "http://evil.test/im.png"}, {"svg": 1}], [27, "a", {"href": f"javascript:{RUN}"}, {"svg": 1}],
    [27, "foreignObject", {}, {"svg": 1}], [33, "img", {"src": "x", "onerror": RUN}], [2, "math", {}, {"other": 1}], [2, "frameset", {"onload": RUN}], [2, "noscript"], [36, "#text", f"<script>{RUN}</script>"],
    [2, "template"], [2, "<img src=x onerror=alert(1)>"], [2, "x-y z", {"a b": "1", "on click": RUN, "__proto__": "x", "is": "p"}], [2, "p", {}, {"sheets": [[1]]}],
    [2, "div"], [42, "#shadow", {}, {"sheets": [[1], [2]]}], [43, "script"], [44, "#text", RUN], [2, "textarea", {"autofocus": ""}, {"filled": 1}], [2, "plaintext"], [2, "portal", {"src": "http://evil.test/p"}],
]  # fmt: skip
CSS = "@import url(http://evil.test/i.css);@import 'http://evil.test/j.css';@font-face{font-family:x;src:url(http://evil.test/f.woff)}div{background:url(http://evil.test/3);font-family:x}"


async def test_nothing_of_a_hostile_moment_runs_or_is_fetched(player):
    page = plain_page(
        *HOSTILE,
        parts=[
            "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIj48L3N2Zz4=",
            CSS,
            "</style><script>alert(1)</script>",
        ],
    )
    page["nodes"][0][3] = {"sheets": [[1], [2, "screen{}"]]}
    await player.evaluate("(moment) => built(moment)", page)
    await player.evaluate(
        "() => { for (const el of finder.within(shown.frames[0], '*')) { el.click?.(); el.focus?.() } }"
    )
    await player.wait_for_timeout(500)
    assert await player.evaluate("() => [window.bad, document.title, location.href]") == [
        None,
        "Player",
        "about:blank",
    ]
    names = await player.evaluate(
        "() => finder.within(shown.frames[0], '*').flatMap((el) => [el.localName, ...[...el.attributes].map((one) => `@${one.name}`)])"
    )
    assert not {
        "script",
        "link",
        "meta",
        "base",
        "object",
        "embed",
        "use",
        "image",
        "animate",
        "portal",
        "plaintext",
    } & set(names)
    assert not [name for name in names if name.startswith("@on")]
    hrefs = await player.evaluate(
        "() => finder.within(shown.frames[0], '[href],[action],iframe').map((el) => `${el.getAttribute('href')} ${el.getAttribute('action')} ${el.getAttribute('src')} ${el.sandbox}`)"
    )
    assert not [one for one in hrefs if "script:" in one]
    assert len(page["nodes"]) > 40


@pytest.mark.thorough
async def test_deep_and_long_moments_are_built(player):
    deep = plain_page(*([n + 2, "div"] for n in range(moments.DEEPEST - 10)))
    await player.evaluate("(moment) => built(moment)", deep)
    assert (
        await player.evaluate("() => shown.frames[0].document.querySelectorAll('div').length")
        == moments.DEEPEST - 10
    )
    await player.evaluate("(moment) => built(moment)", plain_page(*([2, "p"] for _ in range(50_000))))
    assert await player.evaluate("() => finder.all('css=p').length") == 50_000


async def test_both_sides_keep_the_same_attributes(player):
    told = await player.evaluate("() => [...ATTRIBUTES]")
    from reenact.browser.page.sources import moment

    source = moment()
    begin = source.index("const KEPT = new Set((") + len("const KEPT = new Set((")
    kept = await player.evaluate(source[begin : source.index(").split", begin)])
    assert set(told) == {*kept.split(" "), "value"}
