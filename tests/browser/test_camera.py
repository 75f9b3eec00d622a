"""The camera's pictures: when they were, which are kept, what stands around an action."""

from __future__ import annotations

import asyncio
import io
import shutil
import time
import tracemalloc
from itertools import dropwhile, groupby

import pytest
from PIL import Image

from reenact.browser.camera.footage import sessions
from reenact.browser.camera.frames import FrameRecorder, FrameSettings, size_of
from reenact.browser.camera.gate import ActionGate
from reenact.browser.camera.writer import FootageWriter
from tests.browser.filming import Driver, beside, filmed, served

pytestmark = pytest.mark.asyncio(loop_scope="session")

BITS = 32
CLOCK = f"""<title>Clock</title><body style="margin:0;background:white"><canvas id=c width={BITS * 20} height=40></canvas>
<button id=popup onclick="window.open('/clock?moves')">Popup</button><script>
const drawing = c.getContext("2d"); let moves = location.search === "?moves";
function draw() {{ const now = Date.now();
  for (let i = 0; i < {BITS}; i++) {{
    drawing.fillStyle = Math.floor(now / 2 ** i) % 2 ? "black" : "white"; drawing.fillRect(i * 20, 0, 20, 40) }}
  document.title = now }}
function loop() {{ draw(); if (moves) requestAnimationFrame(loop) }}
loop()
async function burst(times) {{ for (let i = 0; i < times; i++) {{ draw(); await new Promise(requestAnimationFrame) }} }}
</script>"""
COLOURS = """<title>Colours</title><body style="margin:0;background:white">
<button id=red onclick="document.body.style.background='red'">Red</button>
<button id=white onclick="document.body.style.background='white'">White</button>"""
PAGES = {"/clock": CLOCK, "/colours": COLOURS, "/next": "<title>Next</title><p>Next</p>"}


@pytest.fixture(scope="module")
def shop():
    with served(PAGES) as address:
        yield address


def decoded(data):
    """The time of the wall clock that a picture shows, in seconds since 1970."""
    grey = Image.open(io.BytesIO(data)).convert("L")
    low = sum((grey.getpixel((i * 20 + 10, 20)) < 128) << i for i in range(BITS))
    now = int(time.time() * 1000)
    return (now - (now - low) % (1 << BITS)) / 1000


def footage(folder):
    (found,) = sessions(folder)
    return found


def clocked(folder):
    """Of each picture of a clock: when it says that it was taken, and when by the clock in it; seconds since 1970."""
    seen = footage(folder)
    began = time.time() - seen_now(folder)
    return [(began + one.t, decoded(seen.blob(one["blob"])), one["tab"]) for one in seen.entries("frame")]


CLOCKS = {}


def seen_now(folder):
    return time.perf_counter() - CLOCKS[folder]


@pytest.fixture
def folder(tmp_path):
    """Where a session's file goes, whose time began now."""
    CLOCKS[tmp_path] = time.perf_counter()
    return tmp_path


def in_red(data):
    red, green, _ = Image.open(io.BytesIO(data)).convert("RGB").getpixel((640, 600))
    return red > 200 and green < 80


def frames(folder):
    return list(footage(folder).entries("frame"))


async def until(holds):
    """Wait until it holds of what is written."""
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - of a file
            await asyncio.sleep(0.02)


async def pictured(folder, tab):
    """Wait until there is a picture of a tab."""
    await until(lambda: any(one["tab"] == tab for one in frames(folder)))


# -- when --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_picture_bears_the_time_that_the_page_s_own_clock_shows(browser, shop, folder):
    started = CLOCKS[folder]
    async with filmed(browser, folder, started=started) as (page, camera):
        driver = Driver(camera, page)
        await driver.do("goto", url=shop + "/clock?moves")
        # What a machine's other work holds up a short sleep by, it holds up a picture by, too.
        starved = await longest_delay(0.6)
        # The program computes, in a thread of its own.
        await asyncio.to_thread(computes, 0.5)
        async with page.context.expect_page() as opened:
            await driver.do("click", "#popup")
        popup = await opened.value
        await driver.do("wait", time_ms=400, page=popup)
        camera.active(page)
        await driver.do("wait", time_ms=300)
    found = clocked(folder)
    assert {tab for *_, tab in found} == {0, 1}
    assert len(found) >= 10
    off = {tab: sorted(abs(said - shown) for said, shown, of in found if of == tab) for tab in (0, 1)}
    # What the page draws is on the screen a little later: so the middle counts.
    assert all(times[len(times) // 2] < 0.1 + 4 * starved for times in off.values()), (starved, off)


async def longest_delay(seconds):
    """Sleep so long in short pieces; return by how many seconds the latest of them ended late."""
    late, until = 0.0, time.perf_counter() + seconds
    while (now := time.perf_counter()) < until:
        await asyncio.sleep(0.005)
        late = max(late, time.perf_counter() - now - 0.005)
    return late


def computes(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        sum(range(10_000))


# -- which -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_a_page_that_rests_gives_no_pictures(browser, shop, folder):
    async with filmed(browser, folder) as (page, _):
        await page.goto(shop + "/colours")
        await asyncio.sleep(0.8)
        count = len(list(footage(folder).entries("frame")))
        await asyncio.sleep(0.8)
        assert len(list(footage(folder).entries("frame"))) == count >= 1


@pytest.mark.thorough
async def test_what_stays_after_a_burst_is_kept(browser, shop, folder):
    async with filmed(browser, folder) as (page, _):
        await page.goto(shop + "/clock")
        for times in (3, 12, 30):
            await page.evaluate("times => burst(times)", times)
            await asyncio.sleep(1.0)
            last = list(footage(folder).entries("frame"))[-1]
            assert decoded(footage(folder).blob(last["blob"])) == int(await page.title()) / 1000


@pytest.mark.thorough
async def test_an_endless_animation_costs_eight_pictures_a_second_and_fewer_when_nothing_is_done(
    browser, shop, folder, monkeypatch
):
    monkeypatch.setattr("reenact.browser.camera.frames.RESTS", ((0.8, 1), (float("inf"), 4)))
    async with filmed(browser, folder) as (page, camera):
        await Driver(camera, page).do("goto", url=shop + "/clock?moves")
        await asyncio.sleep(4)
    times = sorted(one.t for one in footage(folder).entries("frame"))
    first = times[0]
    busy = [t for t in times if t < first + 0.8]
    idle = [t for t in times if t > first + 2]
    assert 2 <= len(busy) <= 8 * 0.8 + 4
    # On a busy machine it takes longer than it was told to: the time counts that has passed.
    assert 1 <= len(idle) <= 2 * (times[-1] - first - 2) + 2


@pytest.mark.thorough
async def test_a_heavy_endless_animation_is_looked_at_seldom_and_at_each_action(
    browser, shop, folder, monkeypatch
):
    monkeypatch.setattr("reenact.browser.camera.frames.CREDIT", 0)
    # Two looks are fifty seconds apart, which is longer than this test waits.
    monkeypatch.setattr("reenact.browser.camera.frames.RESTS", ((60.0, 1), (float("inf"), 400)))
    async with filmed(browser, folder) as (page, camera):
        driver = Driver(camera, page)
        await driver.do("goto", url=shop + "/clock?moves")
        await asyncio.sleep(4)
        # Eight a second would be thirty; the first come before the page is known to move on and on.
        assert len(frames(folder)) <= 14
        for _ in range(3):
            await driver.do("goto", url=shop + "/clock?moves")
            done = max(one.t for one in footage(folder).entries("after"))
            await until(lambda done=done: any(one.t >= done for one in frames(folder)))


async def test_equal_pictures_are_stored_once(browser, shop, folder):
    async with filmed(browser, folder) as (page, _):
        await page.goto(shop + "/colours")
        for times, colour in enumerate(("red", "white") * 3, 1):
            await page.evaluate("colour => { document.body.style.background = colour }", colour)
            await until(lambda times=times: len(changes(folder)) == times)
    assert changes(folder) == [True, False] * 3
    assert len({blob for _, blob in coloured(folder)}) == 2
    named = [one[name] for one in footage(folder).entries() for name in ("blob", "body") if name in one.data]
    stored = [path.name for path in (folder / "blobs").rglob("*") if path.is_file()]
    assert sorted(stored) == sorted({address.removeprefix("sha256:") for address in named})


def changes(folder):
    """The colours of the pictures, equal ones in a row once: True for red."""
    return [red for red, _ in groupby(red for red, _ in coloured(folder))]


def coloured(folder):
    """Each picture since the page was red: whether it is red, and its address."""
    seen = [(in_red(footage(folder).blob(one["blob"])), one["blob"]) for one in frames(folder)]
    return list(dropwhile(lambda one: not one[0], seen))


# -- around an action --------------------------------------------------------------------------------------------


@pytest.mark.thorough
async def test_each_action_has_its_picture_before_and_after(browser, shop, folder):
    async with filmed(browser, folder) as (page, camera):
        driver = Driver(camera, page)
        await driver.do("goto", url=shop + "/colours")
        await asyncio.sleep(0.3)
        await driver.do("click", "#red")
        await asyncio.sleep(0.3)
        await driver.do("click", "#white")
    seen = footage(folder)
    shown = {(one["call"], one["why"]): in_red(seen.blob(one["blob"])) for one in seen.entries("anchor")}
    assert [shown[2, "before"], shown[2, "after"]] == [False, True]
    assert [shown[3, "before"], shown[3, "after"]] == [True, False]
    assert {why for _, why in shown} == {"start", "before", "after", "end"}
    before, after = (
        next(one for one in seen.entries(kind) if one["call"] == 2) for kind in ("before", "after")
    )
    assert before["action"] == {"type": "click", "selector": "#red"}
    assert len(before["target"]["box"]) == 4
    assert (after["success"], after["title"]) == (True, "Colours")
    assert before.t < after.t


@pytest.mark.thorough
async def test_tabs_are_numbered_as_they_open_and_say_who_opened_them(browser, shop, folder):
    async with filmed(browser, folder) as (page, camera):
        await page.goto(shop + "/clock")
        async with page.context.expect_page() as opened:
            await page.click("#popup")
        popup = await opened.value
        await popup.wait_for_load_state()
        camera.active(popup)
        await pictured(folder, 1)
        await popup.close()
        await page.goto(shop + "/next")
        await asyncio.sleep(0.2)
    tabs = [(one["tab"], one["what"]) for one in footage(folder).entries("tab")]
    assert tabs[:2] == [(0, "opened"), (0, "active")]
    assert [what for tab, what in tabs if tab == 1 and what in {"opened", "active", "closed"}] == [
        "opened",
        "active",
        "closed",
    ]
    opened = [one for one in footage(folder).entries("tab") if one["what"] == "opened"]
    assert [one["opener"] for one in opened] == [None, 0]
    titles = [one["title"] for one in footage(folder).entries("tab") if one["what"] == "titled"]
    assert titles[-1] == "Next"
    assert {one["tab"] for one in footage(folder).entries("frame")} == {0, 1}


class _Page:
    """A page in no browser, for what needs none."""

    def is_closed(self):
        return False


# -- for long ----------------------------------------------------------------------------------------------------


def jpeg(colour):
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (colour >> 16, colour >> 8 & 255, colour & 255)).save(file, "JPEG")
    return file.getvalue()


async def test_a_picture_stays_in_the_session_when_the_wall_clock_is_set(tmp_path):
    file = beside(tmp_path, started=time.perf_counter() - 100)
    log = FootageWriter(file)
    assert log.at((time.time() - 0.2) * 1000) == pytest.approx(99.8, abs=0.1)
    for off in (-86_400, 86_400):
        assert log.at((time.time() + off) * 1000) == pytest.approx(100, abs=0.1)
    file.close()


@pytest.mark.thorough
async def test_three_thousand_pictures_leave_nothing_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("reenact.browser.camera.writer.LONG_AGO", 1e6)  # hours pass in a second
    file = beside(tmp_path, started=time.perf_counter() - 10_000)
    reel = FrameRecorder(
        _Page(),
        0,
        FootageWriter(file),
        gate=ActionGate(),
        film=FrameSettings((64, 48), 75, 8.0),
    )
    began = time.time() - 9_000
    pictures = [jpeg(i * 40_000) for i in range(400)]

    def some(numbers):
        for number in numbers:
            reel.take({"data": pictures[number % 400] + bytes(20_000), "timestamp": (began + number) * 1000})

    # The search for secrets loads its second engine, 80 kB, after some megabytes of text; that happens once.
    some(range(2_000))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    some(range(2_000, 5_000))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    file.close()
    assert len(list(footage(tmp_path).entries("frame"))) == 5_000
    assert grown < 20_000  # one picture's worth, of three thousand
    shutil.rmtree(tmp_path / "blobs")


@pytest.mark.parametrize("pause", [0.01, 1.0])
async def test_a_picture_that_comes_late_does_not_hide_a_newer_one(tmp_path, pause):
    file = beside(tmp_path, started=time.perf_counter() - 100)
    reel = FrameRecorder(
        _Page(), 0, FootageWriter(file), gate=ActionGate(), film=FrameSettings((64, 48), 75, 8.0)
    )
    now = time.time() - 5
    first, old, new = (jpeg(i * 40_000) for i in range(3))
    for picture, t in ((first, now), (new, now + pause), (old, now + pause / 2)):
        reel.take({"data": picture, "timestamp": t * 1000})
    reel.want("end", None)
    await reel.stop()
    file.close()
    seen = footage(tmp_path)
    (end,) = seen.entries("anchor")
    assert seen.blob(end["blob"]) == new
    assert seen.blob(max(seen.entries("frame"), key=lambda one: one.t)["blob"]) == new


async def test_a_full_disk_costs_a_warning_and_not_the_action(browser, shop, folder, capsys):
    async with filmed(browser, folder) as (page, camera):
        driver = Driver(camera, page)
        await driver.do("goto", url=shop + "/colours")

        def full(_):
            raise OSError(28, "No space left on device")

        camera._log.blob = full
        assert await driver.do("click", "#red")
        assert await driver.do("click", "#white")
        await asyncio.sleep(0.3)
    assert "No space left on device" in capsys.readouterr().err
    assert any("No space left" in one["text"] for one in footage(folder).entries("noted"))


async def test_a_picture_s_size_is_read_from_its_header():
    assert size_of(jpeg(0)) == (64, 48)
    with pytest.raises(ValueError, match="no JPEG"):
        size_of(b"not a picture at all")
