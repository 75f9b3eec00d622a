"""No picture of a page shows a secret: two runs with different secrets give equal pictures, and none is grey."""

from __future__ import annotations

import io
import random
from contextlib import asynccontextmanager

import pytest
from PIL import Image, ImageChops, ImageFilter

from reenact.browser.camera.footage import sessions
from reenact.browser.page.hiding import hide_element, hide_secrets
from reenact.browser.video import render
from tests.browser.filming import Driver, filmed, served
from tests.browser.frames import decoded, greyed

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRETS = ("correct-horse", "W" * 40, "i1")
NAMED = (".key", "~the diary of", "xpath=//*[@data-kind='pin']")
CSP = "default-src 'self'; script-src 'self' 'nonce-x'; style-src 'none'; font-src 'none'; img-src 'none'"

# Each part has one place for a secret: `fill(secret)` of its script puts it there.
FIELDS = {
    "password": "<input type=password name=pw>",
    "by name": "<input name=apiToken>",
    "by label": "<label>Recovery code <input></label>",
    "by label beside a plain twin": "<label>Access token <input class=a></label><input class=a value=twin>",
    "by label for": "<label for=f{n}>Security code</label><input id=f{n}>",
    "card": "<input autocomplete='section-a cc-number'>",
    "one-time": "<input autocomplete=one-time-code inputmode=numeric>",
    "text area": "<textarea name=private_key rows=2 cols=30></textarea>",
    "opposite style": "<input name=secret_key style='-webkit-text-security:none;color:black'>",
    "inline": "<input type=password style='-webkit-text-security:none!important;-webkit-text-fill-color:#000!important'>",
    "autofill": "<div id=z><style nonce=x>#z input{color:#000!important;-webkit-text-fill-color:#000!important}</style>"
    "<input autocomplete=cc-csc></div>",
    "layer": "<style nonce=x>@layer a{input.l{-webkit-text-fill-color:#000!important;transition:all 1s!important}}</style>"
    "<input class=l autocomplete=cc-csc>",
    "hint": "<input type=password placeholder='your password'>",
    "named": "<textarea class=key rows=1></textarea>",
    "centred": "<input type=password style='text-align:center;width:90px'>",
}
FILL = "for (const e of root.querySelectorAll('input,textarea')) if (!e.classList.contains('a') || !e.value || e.own) { e.own = 1; e.value = secret }"
SHOWN = {
    "code": ("<code class=key style='display:block;overflow:hidden;height:1.2em'></code>", ".key"),
    "text": ("<p style='overflow:hidden;height:1.2em' class=d></p>", ".d"),
    "picture": ("<canvas class=key width=150 height=24></canvas>", "canvas"),
    "kind": ("<b data-kind=pin style='display:block;overflow:hidden;height:1.2em'></b>", "b"),
}
PUT = {
    "code": "e.textContent = secret",
    "text": "e.textContent = 'the diary of ' + secret",
    "picture": "const g = e.getContext('2d'); g.clearRect(0, 0, 200, 50); g.font = '20px serif'; g.fillText(secret, 0, 20)",
    "kind": "e.textContent = secret",
}
# How a part comes into the page. `html` and `fill` are JavaScript.
WAYS = {
    "plain": "document.body.insertAdjacentHTML('beforeend', '<div>' + html + '</div>'); fill(document.body.lastChild)",
    "open": "const h = add(), root = h.attachShadow({mode: 'open'}); root.innerHTML = html; fill(root)",
    "closed": "const h = add(), root = h.attachShadow({mode: 'closed'}); root.innerHTML = html; fill(root)",
    "own sheets": "const h = add(), root = h.attachShadow({mode: 'closed'}); root.innerHTML = html; fill(root);"
    " root.adoptedStyleSheets = [new CSSStyleSheet()]; document.adoptedStyleSheets = []",
    "moved": "const h = add(); const box = document.createElement('div'); box.innerHTML = html; fill(box); h.attachShadow({mode: 'open'}).append(box)",
    "frame": "const f = add('iframe'); f.height = 60; f.contentDocument.body.innerHTML = html; fill(f.contentDocument.body)",
    "srcdoc": "const f = add('iframe'); f.height = 60; f.onload = () => fill(f.contentDocument.body); f.srcdoc = html",
    "declared": "document.body.append(document.createElement('div')); document.body.lastChild.setHTMLUnsafe("
    "'<div><template shadowrootmode=open>' + html + '</template></div>'); fill(document.body.lastChild.firstChild.shadowRoot)",
    "late": "const h = add(); setTimeout(() => { h.innerHTML = html; fill(h) }, 30)",
    "typed later": "const h = add(); h.innerHTML = html.replace('password', 'text'); fill(h);"
    " for (const e of h.querySelectorAll('input')) if (html.includes('type=password')) { e.type = 'password'; e.type = 'text' }",
}


def parts(seed):
    """Some parts of a page, by chance: how each comes, its HTML, and the JavaScript that puts the secret there."""
    chance = random.Random(seed)
    for number in range(chance.randint(2, 4)):
        way = chance.choice(list(WAYS))
        if chance.random() < 0.75:
            yield way, chance.choice(list(FIELDS.values())).replace("{n}", str(number)), FILL
        elif way != "typed later":
            kind = chance.choice(list(SHOWN))
            html, where = SHOWN[kind]
            if kind == "kind" and way in {"open", "closed", "own sheets", "moved", "declared"}:
                continue  # XPath does not reach into them
            yield way, html, f"for (const e of root.querySelectorAll('{where}')) {{ {PUT[kind]} }}"


def page_of(seed):
    """A generated page; `?secret` has its secret."""
    code = "\n".join(
        f"{{ const html = {html!r}, fill = (root) => {{ {fill} }}; {WAYS[way]} }}"
        for way, html, fill in parts(seed)
    )
    return f"""<!doctype html><meta charset=utf-8><title>Page {seed}</title><h1>Page {seed}</h1>
<input name=q value=plain><script nonce=x>
const secret = decodeURIComponent(location.search.slice(1));
const add = (tag = 'div') => document.body.appendChild(document.createElement(tag));
{code}</script>"""


@pytest.fixture(scope="module")
def generated():
    def answer(handler):
        body = page_of(handler.path.split("?")[0].rsplit("/", 1)[1])
        policy = {"Content_Security_Policy": CSP} if "/strict/" in handler.path else {}
        handler.answer(body, **policy)

    class Pages(dict):
        def get(self, path):
            return answer if path.startswith(("/strict/", "/free/")) else super().get(path)

    with served(Pages(LOGIN)) as address:
        yield address


def picture(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


@asynccontextmanager
async def tab(browser, *, hidden=True):
    context = await browser.new_context(viewport={"width": 500, "height": 400})
    if hidden:
        await hide_secrets(context, NAMED)
    yield await context.new_page()
    await context.close()


async def looks(page, url, *, fill=None):
    """Pictures of a page with each secret in it."""
    found = []
    for secret in SECRETS:
        await page.goto(url.replace("SECRET", secret))
        await page.wait_for_timeout(60)
        if fill is not None:
            await fill(page, secret)
        found.append(picture(await page.screenshot()))
    return found


def grey_surface(image):
    """The share of a picture that is within grey surfaces; lines, as the borders of fields, are none."""
    red, green, blue = image.split()
    parts = [
        red.point(lambda value: 255 * (60 < value < 215)),
        ImageChops.difference(red, green).point(lambda value: 255 * (value < 20)),
        ImageChops.difference(green, blue).point(lambda value: 255 * (value < 30)),
    ]
    mask = ImageChops.darker(ImageChops.darker(*parts[:2]), parts[2]).filter(ImageFilter.MinFilter(5))
    return mask.histogram()[255] / (image.width * image.height)


def differ(pictures):
    return [ImageChops.difference(pictures[0], one).getbbox() for one in pictures[1:]]


async def check(browser, address, policy, seeds):
    async with tab(browser) as page:
        for seed in seeds:
            pictures = await looks(page, f"{address}/{policy}/{seed}?SECRET")
            assert differ(pictures) == [None] * (len(SECRETS) - 1), (seed, list(parts(seed)))
            # A named canvas is covered by a grey box of its own size, 150 by 24 pixels.
            covered = sum("canvas" in html for _, html, _ in parts(seed)) * 150 * 24 / (500 * 400)
            assert max(map(grey_surface, pictures)) < 0.01 + covered, (seed, list(parts(seed)))


@pytest.mark.thorough
@pytest.mark.parametrize("policy", ["strict", "free"])
async def test_pictures_of_pages_with_different_secrets_are_equal(browser, generated, policy):
    await check(browser, generated, policy, [f"{policy}-{number}" for number in range(4)])


@pytest.mark.thorough
@pytest.mark.parametrize("policy", ["strict", "free"])
async def test_pictures_of_hundreds_of_pages_with_different_secrets_are_equal(browser, generated, policy):
    await check(browser, generated, policy, [f"{policy}-{number}" for number in range(4, 150)])


async def test_without_it_the_pictures_differ(browser, generated):
    async with tab(browser, hidden=False) as page:
        assert any(differ(await looks(page, f"{generated}/free/free-0?SECRET")))


# -- what a film shows -------------------------------------------------------------------------------------------

STYLE = (
    "<style>body{margin:30px;font:18px sans-serif} .s,input[name=pin]{color:#f0f;font-weight:bold}</style>"
)
LOGIN = {
    "/login": f"""<title>Log in</title>{STYLE}<h1>Log in</h1><form action=/home><label>User <input id=user></label>
        <label>Password <input id=password class=s type=password name=password></label>
        <button type=button id=show onclick="password.type = password.type === 'text' ? 'password' : 'text'">Show</button>
        <label>Number <input class=s id=number></label><button id=go>Log in</button></form><a href=/home id=away>Home</a>""",
    "/home": f"<title>Home</title>{STYLE}<h1>Home</h1><p>{'Welcome back. ' * 60}</p><iframe src=/inner></iframe>",
    "/inner": f"<title>Pay</title>{STYLE}<label>PIN <input name=pin id=pin></label>",
}


def share(data, fits):
    """The share of a picture's pixels that are of a colour."""
    small = picture(data).resize((320, 180))
    return sum(count for count, colour in small.getcolors(1 << 20) if fits(*colour)) / (320 * 180)


def magenta(red, green, blue):
    return red > 170 and green < 110 and blue > 170


def grey(red, green, blue):
    return 60 < red < 215 and abs(red - green) < 20 and abs(green - blue) < 30


async def test_no_frame_of_a_login_shows_the_secret_and_none_is_grey(browser, generated, tmp_path):
    async with filmed(browser, tmp_path) as (page, camera):
        driver = Driver(camera, page)
        await driver.do("goto", url=generated + "/login")
        await driver.do("fill", "#user", value="ada")
        await driver.do("fill", "#password", value="open-sesame")
        await driver.do("click", "#show")
        number = page.locator("#number")
        await hide_element(page, number, "css=#number")
        await driver.do("fill", "#number", value="4242")
        await driver.do("click", "#away")
        await page.frame_locator("iframe").locator("#pin").fill("778899")
        await driver.do("wait", time_ms=200)
        await page.go_back()
        await driver.do("wait", time_ms=200)
        await page.fill("#number", "4343")  # in a new document, without a word to it
        await page.go_forward()
        await driver.do("wait", time_ms=200)
    (footage,) = sessions(tmp_path)
    pictures = [footage.blob(blob) for blob in {one["blob"] for one in footage.entries("frame", "anchor")}]
    assert len(pictures) > 4  # a busy browser draws fewer
    assert [one for one in pictures if share(one, magenta)] == []
    assert max(share(one, grey) for one in pictures) < 0.25
    assert not any(one["masks"] for one in footage.entries("frame", "anchor"))


async def film_pages(browser, address, folder, pages):
    """The frames of the video of a walk through generated pages, with the white one at the beginning left out."""
    async with filmed(browser, folder) as (page, camera):
        await hide_secrets(page.context, NAMED)
        driver = Driver(camera, page)
        for place in pages:
            await driver.do("goto", url=f"{address}/{place}?correct-horse")
            await driver.do("fill", "[name=q]", value="a word")
        await page.go_back()
        await page.go_forward()
        await driver.do("wait", time_ms=100)
    (footage,) = sessions(folder)
    video = render(footage)
    opened = video.at(next(entry.t for entry in footage.entries("after")))
    return [(round(ms), image) for ms, _, image in decoded(video.path) if ms >= opened]


@pytest.mark.parametrize("many", [2, pytest.param(150, marks=pytest.mark.thorough)])
async def test_less_than_a_hundredth_of_each_frame_of_generated_pages_is_grey(
    browser, generated, tmp_path, many
):
    pages = [f"{policy}/{policy}-{number}" for number in range(many) for policy in ("free", "strict")]
    frames = await film_pages(browser, generated, tmp_path, pages)
    assert len(frames) > 2 * many
    assert [(ms, round(greyed(image), 3)) for ms, image in frames if greyed(image) >= 0.01] == []


async def test_what_was_typed_is_seen_as_dots_and_an_empty_field_as_empty(browser, generated):
    async with tab(browser) as page:
        await page.goto(generated + "/login")
        seen = []
        for text in ("", "a", "quite another", ""):
            await page.fill("#password", text)
            await page.focus("#user")
            seen.append(picture(await page.locator("#password").screenshot()))
    empty, filled, again, emptied = seen
    assert ImageChops.difference(empty, filled).getbbox() is not None
    assert differ([filled, again]) == differ([empty, emptied]) == [None]


async def test_a_page_that_breaks_javascript_shows_no_field(browser, generated):
    async def broken(page, secret):
        await page.evaluate(
            """secret => {
                Array.prototype.map = Element.prototype.matches = () => { throw new Error('mine') };
                document.body.innerHTML = '<input name=api_key>'; document.querySelector('input').value = secret;
            }""",
            secret,
        )

    async with tab(browser) as page:
        assert differ(await looks(page, f"{generated}/login", fill=broken)) == [None, None]


async def test_a_page_that_writes_itself_anew_shows_no_secret(browser, generated):
    async def written(page, secret):
        await page.set_content(f"<p>New</p><label>API key <input value='{secret}'></label>")
        await page.evaluate("document.adoptedStyleSheets = []")

    async with tab(browser) as page:
        assert differ(await looks(page, f"{generated}/login", fill=written)) == [None, None]
