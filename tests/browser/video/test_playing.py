"""What a real browser makes of the videos, and what the videos make of a real browser."""

from __future__ import annotations

import asyncio
import io
from collections import defaultdict
from datetime import datetime

import av
import pytest
from PIL import Image
from playwright.async_api import async_playwright, expect

from reenact.browser.camera.footage import sessions
from reenact.browser.session.session_video import replay
from reenact.browser.video import render
from tests.browser.filming import Driver, filmed, served
from tests.browser.frames import decoded, greyed, pointed, ringed
from tests.browser.sketching import BITS, BLOCK, Filming, clock_page, read_clock
from tests.chromium import CHROMIUM, headless

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chrome or Chromium is installed here")

CLOCK = f"""<title>Clock</title><style>body{{margin:0;background:#fff}} i{{position:absolute;top:20px;width:{BLOCK}px;
height:{BLOCK}px}} button{{position:absolute;left:100px;top:200px;width:160px;height:60px}}</style>
<button onclick="document.body.style.background='#8f8'">Go</button><script>
const bits=[...Array({BITS}).keys()].map(bit=>{{const i=document.createElement('i');i.style.left=20+bit*{BLOCK}+'px';
document.body.append(i);return i}});
function tick(){{const now=Math.round(performance.timeOrigin+performance.now())%{1 << BITS};
bits.forEach((i,bit)=>i.style.background=now>>bit&1?'#000':'#fff');setTimeout(tick,70)}} tick()</script>"""


def browsing(deed):
    """Run an async function with a browser in a loop of its own."""

    async def run():
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=headless())
            try:
                return await deed(browser)
            finally:
                await browser.close()

    return asyncio.run(run())


def test_every_frame_of_a_real_session_stands_where_the_page_s_own_clock_says(tmp_path):
    folder = tmp_path / "clock"
    folder.mkdir()

    async def deed(browser):
        with served({"/": CLOCK}) as site:
            async with filmed(browser, folder) as (page, camera):
                driver = Driver(camera, page)
                await driver.do("goto", url=site + "/")
                await driver.do("wait", time_ms=700)
                await driver.do("click", "button")
                await driver.do("wait", time_ms=700)

    browsing(deed)
    (footage,) = sessions(folder)
    video = render(footage)
    # When the page showed which time: by the footage, and by the video. (How long the browser takes to paint is its
    # own, and differs with what else the machine does: benchmarks/video.py measures it.)
    painted = defaultdict(list)
    for entry in footage.entries("frame", "anchor"):
        clock = read_clock(Image.open(io.BytesIO(footage.blob(entry["blob"]))))
        painted[clock].append((entry.t - video.begin) * 1000)
    loaded = next((e.t - video.begin) * 1000 for e in footage.entries("after") if e["call"] == 1) + 100
    seen, clicked, last = set(), None, 0
    with av.open(str(video.path)) as container:
        for frame in container.decode(video=0):
            image, shown = frame.to_image(), video.session_ms(frame.time * 1000)
            clock = read_clock(image)
            red, green, _ = image.getpixel((600, 600))
            if clicked is None and green - red > 60:
                clicked = shown
            if shown > loaded and clock != last:
                assert min(abs(shown - t) for t in painted[clock]) <= 30
                seen.add(clock)
                last = clock
    assert len(seen) >= 3
    (before,) = ((e.t - video.begin) * 1000 for e in footage.entries("before") if e["call"] == 3)
    (after,) = ((e.t - video.begin) * 1000 for e in footage.entries("after") if e["call"] == 3)
    assert before <= clicked <= after + 400


PRESSES = """<title>Presses</title><style>body{margin:0;background:#fff} button{position:absolute;width:120px;height:50px;
background:#cde;border:0}</style><button id=a style="left:80px;top:80px"></button><button id=b style="left:700px;top:120px">
</button><button id=c style="left:300px;top:500px"></button><script>
const presses=[]; addEventListener('mousedown',({target})=>presses.push([target.id,Date.now()]))</script>"""


def test_ring_and_pointer_stand_on_an_element_within_100_ms_of_the_press_that_the_page_saw(tmp_path):
    presses = []

    async def deed(browser):
        with served({"/": PRESSES}) as site:
            async with filmed(browser, tmp_path) as (page, camera):
                driver = Driver(camera, page)
                await driver.do("goto", url=site + "/")
                for id in "abcabacb":
                    await driver.do("click", f"#{id}")
                await driver.do("wait", time_ms=300)
                presses.extend(await page.evaluate("presses"))

    browsing(deed)
    (footage,) = sessions(tmp_path)
    video = render(footage)
    boxes = {
        entry["action"]["selector"][1:]: entry["target"]["box"]
        for entry in footage.entries("before")
        if entry["action"]["type"] == "click"
    }
    began = datetime.fromisoformat(footage.head["started"]).timestamp() * 1000
    frames = decoded(video.path)
    assert [id for id, _ in presses] == list("abcabacb")
    assert max(greyed(image) for _, _, image in frames if not image.getpixel((5, 5))[0] < 60) < 0.01
    for id, at in presses:
        pressed = video.video_ms(at - began)
        x, y, across, down = box = boxes[id]
        near = [image for ms, end, image in frames if ms <= pressed + 100 and end >= pressed - 100]
        # Of an action that is shorter than a frame, the pointer may arrive in the frame after the ring.
        shown = (
            any(ringed(image, box, ["script"]) for image in near),
            any(pointed(image, (x + across / 2, y + down / 2)) for image in near),
        )
        assert shown == (True, True), (id, pressed, [(round(ms), round(end)) for ms, end, _ in frames])


@pytest.mark.thorough
def test_chromium_plays_the_video_jumps_in_it_and_shows_its_captions(tmp_path):
    filming = Filming(tmp_path / "recording")
    for t in (0.0, 0.5, 30.0, 30.4):
        filming.frame(t, clock_page(round(t * 1000)))
    filming.act(30.2, 30.3, {"type": "click", "selector": "#go"}, box=[100, 100, 80, 30])
    filming.line("end", 31.0)
    response = replay(filming.folder, home=tmp_path)

    async def deed(browser):
        page = await browser.new_page(viewport={"width": 640, "height": 408})
        with served({"/": f"<style>body{{margin:0}}</style>{response._repr_html_()}"}) as site:
            await page.goto(site)
            video = page.locator("video")
            about = await video.evaluate(
                """async video => { video.controls = false; video.width = 640;
                await new Promise(done => video.readyState > 2 ? done() : video.oncanplay = done);
                video.textTracks[0].mode = 'showing';
                await new Promise(done => setTimeout(done, 200));
                return [video.videoWidth, video.videoHeight, video.duration, video.textTracks[0].cues.length] }"""
            )
            seen = {}
            for at in (0.2, 15.0, 30.1, 31.5, 3.0):
                await video.evaluate(
                    """(video, at) => new Promise(done => { video.textTracks[0].mode = 'hidden';
                    video.requestVideoFrameCallback(() => requestAnimationFrame(() => requestAnimationFrame(done)));
                    video.currentTime = at })""",
                    at,
                )
                image = Image.open(io.BytesIO(await page.screenshot()))
                seen[at] = read_clock(image)
            # By its address, as a player asks for it: a piece at a time.
            await page.set_content(f'<video muted src="{response.mp4_url}"></video>')
            played = await page.locator("video").evaluate(
                """async video => { await video.play(); await new Promise(done => setTimeout(done, 600));
                return video.currentTime }"""
            )
            return about, seen, played

    about, seen, played = browsing(deed)
    assert about == [640, 408, pytest.approx(32.0, abs=0.05), 1]
    assert seen == {0.2: 0, 15.0: 500, 30.1: 30000, 31.5: 30400, 3.0: 500}
    assert played > 0.2


@pytest.mark.thorough
def test_chromium_plays_the_page_that_stands_in_for_a_video(tmp_path):
    filming = Filming(tmp_path / "recording")
    for t in (0.0, 1.0, 2.0):
        filming.frame(t, clock_page(round(t * 1000)))
    filming.act(1.5, 1.6, {"type": "click", "selector": "#go"}, box=[100, 100, 80, 30])
    filming.line("end", 2.5)
    video = render(filming.folder, tmp_path / "x.html")

    async def deed(browser):
        page = await browser.new_page(viewport={"width": 1400, "height": 900})
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        await page.goto(video.path.as_uri())
        natural = "image => image.decode().then(() => [image.naturalWidth, image.naturalHeight])"
        size = await page.locator("#picture").evaluate(natural)
        await page.locator("#place").evaluate(
            "place => { place.value = 2100; place.dispatchEvent(new Event('input')) }"
        )
        said = await page.locator("#time").text_content()
        await page.get_by_role("button", name="1. Click #go").click()
        step = await page.locator("#time").text_content()
        await page.locator("#play").click()
        await expect(page.locator("#play")).to_have_text("Pause")
        await expect(page.locator("#play")).to_have_text("Play", timeout=120_000)
        end = await page.locator("#time").text_content()
        return errors, size, said, step, end

    errors, size, said, step, end = browsing(deed)
    assert (errors, size) == ([], [640, 408])
    assert (said, step, end) == ("0:02 / 0:03", "0:00 / 0:03", "0:03 / 0:03")
