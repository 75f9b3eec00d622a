"""A session's video as a file: true to time, masked, small, and whole whatever the session was."""

from __future__ import annotations

import io
import re
import subprocess
from importlib import import_module

import av
import orjson
import pytest
from PIL import Image, ImageChops, ImageDraw

from reenact.browser.video import encode, render
from reenact.browser.video.finished_video import known
from reenact.core import boundary
from reenact.errors import RecordingError, UsageError
from tests.browser.frames import pointed, ringed
from tests.browser.sketching import Filming, clock_page, jpeg, read_clock

module = import_module("reenact.browser.video.render")
WHITE = Image.new("RGB", (640, 360), "white")
CLICK = {"type": "click", "selector": "#go"}
BOX = [100, 100, 80, 30]
BAR = 48


def frames(video):
    """The decoded frames: (milliseconds, picture)."""
    with av.open(str(video.path)) as container:
        return [(round(frame.time * 1000), frame.to_image()) for frame in container.decode(video=0)]


def picture_at(video, ms):
    return [image for at, image in frames(video) if at <= ms][-1]


@pytest.fixture(params=["pyav", "ffmpeg"])
def means(request):
    if request.param == "ffmpeg" and encode.ffmpeg() is None:
        pytest.skip("no ffmpeg that encodes H.264: pip install imageio-ffmpeg")
    return request.param


@pytest.mark.parametrize("pace", ["real", "compact"])
def test_each_picture_stands_in_the_video_when_the_page_showed_it(filming, pace):
    # The page shows its own clock, painted at odd moments, with a pause, and actions in between.
    moments = [0.0, 0.13, 0.301, 0.377, 0.75, 1.111, 9.003, 9.2, 9.25, 9.9, 10.7]
    for t in moments:
        filming.frame(t, clock_page(round(t * 1000)))
    for number, began in enumerate([0.3, 9.1, 9.21]):
        filming.act(began, began + 0.03, CLICK, box=[400, 300, 30, 20], call=number + 1)
    filming.line("end", 11.0)
    video = render(filming.footage(), pace=pace)
    shown = {}
    for ms, image in frames(video):
        shown.setdefault(read_clock(image), ms)
    assert list(shown) == [round(t * 1000) for t in moments]
    for painted, ms in shown.items():
        late = ms - video.video_ms(painted)
        # In a compact video an action's halt may lie before it.
        assert -13 <= late <= 100 or (pace == "compact" and -13 <= late <= 700)


def test_it_is_a_file_that_players_take(filming, means):
    filming.frame(0.5, clock_page(500))
    filming.act(2.0, 2.5, CLICK, box=BOX)
    filming.frame(2.4, clock_page(2400))
    filming.line("end", 4.0)
    video = render(filming.footage(), means=means)
    data = video.path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")
    with av.open(str(video.path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.profile) == ("h264", "High")
        assert (stream.width, stream.height, stream.pix_fmt) == (640, 360 + BAR, "yuv420p")
        assert container.duration == pytest.approx(4_500_000, abs=60_000)
        # Which colours its numbers mean is said: a player need not guess.
        assert (stream.codec_context.colorspace, stream.codec_context.color_range) == (6, 1)
        assert [chapter["metadata"]["title"] for chapter in container.chapters()] == ["Start", "1. Click #go"]
        assert next(frame.pts for frame in container.decode(video=0)) == 0
    assert video.duration_ms == 4500
    assert video.start_ms == 500
    if encode.ffmpeg():
        said = subprocess.run(
            [encode.ffmpeg(), "-v", "error", "-i", video.path, "-f", "null", "-"],
            capture_output=True,
            check=False,
        )
        assert (said.returncode, said.stderr) == (0, b"")


def test_both_means_show_the_same_frames_at_the_same_times(filming):
    if encode.ffmpeg() is None:
        pytest.skip("no ffmpeg that encodes H.264: pip install imageio-ffmpeg")
    for t in (0.0, 0.4, 3.3):
        filming.frame(t, clock_page(round(t * 1000)))
    filming.act(2.0, 2.5, CLICK, box=BOX)
    by = {means: frames(render(filming.footage(), means=means)) for means in ("pyav", "ffmpeg")}
    assert [ms for ms, _ in by["pyav"]] == [ms for ms, _ in by["ffmpeg"]]
    assert [read_clock(image) for _, image in by["pyav"]] == [read_clock(image) for _, image in by["ffmpeg"]]


def reds(image):
    """How many of its pixels show the secret."""
    red, green, _ = image.split()
    return ImageChops.subtract(red, green).point(lambda more: 255 if more > 60 else 0).histogram()[255]


def secret_page():
    image = WHITE.copy()
    ImageDraw.Draw(image).rectangle((200, 150, 399, 189), fill=(255, 0, 0))
    return image


def test_no_pixel_of_a_secret_is_in_the_video_and_no_letter_in_its_captions(filming):
    box = [200, 150, 200, 40]
    filming.frame(0.0, secret_page(), masks=[box])
    filming.act(2.0, 2.4, {"type": "fill", "selector": "#x", "value": "hunter2"}, box=box)
    filming.frame(2.3, secret_page(), masks=[box])
    filming.line("end", 3.0)
    video = render(filming.footage())
    for _, image in frames(video):
        assert reds(image) == 0
    for path in (video.captions, video.manifest, video.path):
        assert b"hunter2" not in path.read_bytes()
    bare = render(filming.footage(), mask=False)
    assert bare.path != video.path
    assert reds(picture_at(bare, 500)) > 1000


def test_a_mask_of_a_page_that_was_made_smaller_covers_it_too(tmp_path):
    filming = Filming(tmp_path, viewport=(1280, 720))
    small = WHITE.copy()
    # Of the page in half its size, the box is at half the place.
    ImageDraw.Draw(small).rectangle((100, 75, 199, 94), fill=(255, 0, 0))
    filming.frame(0.0, small, masks=[[200, 150, 200, 40]])
    filming.act(1.0, 1.1, CLICK, box=[800, 600, 100, 60])
    filming.line("end", 2.0)
    video = render(filming.footage())
    # It is not blown up again.
    assert video.size == (640, 360 + BAR)
    assert {reds(image) for _, image in frames(video)} == {0}
    # The ring is where the element is on the smaller page.
    blue = ImageChops.subtract(*reversed(picture_at(video, 1050).crop((0, 0, 640, 360)).split()[::2]))
    left, top, right, bottom = blue.point(lambda more: 255 if more > 60 else 0).getbbox()
    assert (left, top, right, bottom) == pytest.approx((396, 296, 454, 334), abs=6)


@pytest.mark.parametrize(
    "box", [[300, 50, 40, 20], [310, 90, 300, 24], [20, 30, 600, 40], [20, 310, 600, 30]]
)
def test_a_card_does_not_cover_the_element_that_an_action_is_done_on(filming, box):
    filming.frame(0.0, WHITE)
    filming.line("download", 0.5, tab=0, url="u", name="a.pdf", size=2000, state="completed")
    filming.act(1.0, 1.3, CLICK, box=box)
    filming.line("end", 4.0)
    video = render(filming.footage())
    shown = picture_at(video, 1100)
    assert ringed(shown, box)
    # The card is still there, and so is the pointer above it.
    assert shown.crop((0, 0, 640, 360)).convert("L").point(lambda value: value < 60).histogram()[1] > 5000
    assert pointed(shown, (box[0] + box[2] / 2, box[1] + box[3] / 2))


def test_it_is_private(filming):
    filming.frame(0.0, WHITE)
    video = render(filming.footage())
    assert {path.stat().st_mode & 0o077 for path in (video.path, video.captions, video.manifest)} == {0}


def test_it_is_made_once_and_anew_when_the_session_went_on(filming, monkeypatch):
    filming.frame(0.0, WHITE)
    first = render(filming.footage())
    made = first.path.stat().st_mtime_ns
    assert render(filming.footage()) == first
    assert first.path.stat().st_mtime_ns == made
    for number in range(5):
        filming.frame(1.0 + number, clock_page(number))
        newest = render(filming.footage())
    assert newest.duration_ms == 6000
    assert len(list(first.path.parent.glob("*.mp4"))) == 3
    assert not first.captions.exists()


def test_a_target_gets_the_video_its_captions_and_its_map(filming, tmp_path):
    filming.frame(0.0, WHITE)
    filming.act(20.0, 20.2, CLICK, box=BOX)
    video = render(filming.folder, tmp_path / "x.mp4", pace="compact")
    assert video.path == tmp_path / "x.mp4"
    assert known(video.path) == video
    data = orjson.loads((tmp_path / "x.json").read_bytes())
    assert data["segments"] == [[0, 0], [1500, 20000], [2100, 20000], [3300, 21200]]
    assert video.session_ms(750) == 10_000
    assert video.at(20.1) == pytest.approx(2200)
    captions = (tmp_path / "x.vtt").read_text()
    assert captions.startswith("WEBVTT\n\n00:00:01.500 --> ")
    assert "1. Click #go" in captions


def empty(filming):
    pass


def no_picture(filming):
    filming.act(1.0, 1.5, {"type": "goto", "url": "https://example.com/"})


def one_picture(filming):
    filming.frame(0.4, WHITE)


def torn(filming):
    filming.frame(0.0, WHITE)
    filming.raw(b'{"event":"frame","t":1.0,"bl')


def lost(filming):
    filming.frame(0.0, WHITE)
    filming.line("frame", 1.0, tab=0, blob="sha256:" + "0" * 64, width=640, height=360, masks=[])


def damaged(filming):
    filming.frame(0.0, WHITE)
    filming.frame(1.0, jpeg(clock_page(5))[:300])
    filming.frame(2.0, b"not a picture")


def hostile(filming):
    """A picture that would start Ghostscript, and one of very many pixels."""
    filming.frame(0.0, WHITE)
    filming.frame(1.0, b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n")
    many = io.BytesIO()
    Image.new("1", (8000, 8001)).save(many, "PNG")
    filming.frame(2.0, many.getvalue())


def other_sizes(filming):
    filming.frame(0.0, WHITE)
    for number, size in enumerate([(1, 1), (333, 777), (641, 361), (1280, 720), (3000, 40)]):
        filming.frame(1.0 + number, Image.new("RGB", size, "green"), masks=[[0, 0, 9999, 9999]])


@pytest.mark.parametrize(
    "session", [empty, no_picture, one_picture, torn, lost, damaged, hostile, other_sizes]
)
@pytest.mark.parametrize("pace", ["real", "compact"])
def test_whatever_the_session_was_there_is_a_video_of_it(filming, session, pace):
    session(filming)
    video = render(filming.footage(), pace=pace)
    shown = frames(video)
    assert shown[0][0] == 0
    assert shown[-1][0] <= video.duration_ms
    assert {image.size for _, image in shown} == {(640, 360 + BAR)}
    assert video.lost == {lost: 1, damaged: 2, hostile: 2}.get(session, 0)


@pytest.mark.parametrize(
    ("viewport", "size"),
    [
        ((1281, 721), (1280, 720)),
        ((390, 844), (640, 844)),
        ((3840, 2160), (1920, 1080)),
        ((161, 211), (640, 212)),
    ],
)
def test_every_size_of_page_has_even_sides_and_room_for_its_caption(tmp_path, viewport, size):
    filming = Filming(tmp_path, viewport=viewport)
    filming.frame(0.0, Image.new("RGB", viewport, "white"))
    filming.act(1.0, 1.1, CLICK, box=[-50, -50, 9000, 9000])
    video = render(filming.footage())
    assert video.size == (size[0], size[1] + BAR)
    # The page is drawn, and where it should be: its middle is white.
    red, green, blue = picture_at(video, 0).getpixel((size[0] // 2, size[1] // 2))
    assert min(red, green, blue) > 245


def test_a_page_that_turns_stands_in_the_middle_as_a_whole(filming):
    filming.frame(0.0, WHITE)
    filming.frame(1.0, Image.new("RGB", (360, 640), "green"))
    filming.act(2.0, 2.1, CLICK, box=[0, 0, 360, 640])
    filming.line("end", 3.0)
    image = picture_at(render(filming.footage()), 1200)
    assert image.getpixel((320, 5))[1] > 100
    assert image.getpixel((320, 355))[1] > 100
    assert max(image.getpixel((100, 180))) < 60


def test_two_sessions_of_a_recording_have_a_video_each(tmp_path):
    Filming(tmp_path, number=1, id="first").frame(0.0, WHITE)
    Filming(tmp_path, number=2, id="second", t=30.0).frame(31.0, clock_page(77))
    one, two = render(tmp_path), render(tmp_path, session=2)
    assert (one.session, two.session) == ("first", "second")
    assert (two.begin, two.start_ms) == (30.0, 1000)
    assert read_clock(picture_at(two, 0)) == 77
    with pytest.raises(RecordingError, match="2 browser sessions: there is no session 3"):
        render(tmp_path, session=3)


def test_a_recording_without_a_session_says_so_in_one_line(tmp_path):
    with pytest.raises(RecordingError, match="has no browser session, and so no video"):
        render(tmp_path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pace": "fast"}, "pace 'fast': it is real or compact"),
        ({"means": "magic"}, "means 'magic': one of pyav, ffmpeg, page"),
        ({"target": "x.webm"}, r"x\.webm: a video is NAME\.mp4"),
        ({"target": "nowhere/x.mp4"}, "nowhere is no folder"),
    ],
)
def test_a_wrong_option_is_named(filming, tmp_path, options, said):
    filming.frame(0.0, WHITE)
    target = tmp_path / options.pop("target") if "target" in options else None
    with pytest.raises(UsageError, match=said):
        render(filming.footage(), target, **options)


def test_without_pillow_it_says_what_to_install(filming, monkeypatch):
    filming.frame(0.0, WHITE)
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pip install 'reenact\[browser\]'"):
        render(filming.footage())


def test_a_failure_leaves_no_half_of_a_file(filming, monkeypatch):
    filming.frame(0.0, WHITE)

    def stop(done, all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(filming.footage(), progress=stop)
    assert list((filming.folder / "videos").iterdir()) == []
    assert render(filming.footage()).duration_ms == 1000


def test_an_ffmpeg_that_fails_is_one_clear_line(filming, monkeypatch, tmp_path):
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho 'Unknown encoder libx264' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(encode, "ffmpeg", lambda: str(program))
    for t in range(20):
        filming.frame(t / 10, clock_page(t))
    with pytest.raises(RecordingError, match="ffmpeg could not encode the video: Unknown encoder libx264"):
        render(filming.footage(), means="ffmpeg")


def test_without_an_encoder_it_is_a_page(filming, tmp_path, monkeypatch):
    monkeypatch.setattr(encode, "pyav", lambda: False)
    monkeypatch.setattr(encode, "ffmpeg", lambda: None)
    filming.frame(0.0, secret_page(), masks=[[200, 150, 200, 40]])
    filming.act(1.0, 1.2, {"type": "click", "selector": "</script><script>alert(1)</script>"}, box=BOX)
    filming.line("end", 3.0)
    video = render(filming.folder, tmp_path / "x.mp4")
    assert video.path == tmp_path / "x.html"
    page = video.path.read_text()
    assert "<script>alert" not in page
    assert len(re.findall("<template data-ms", page)) >= 3
    assert "://" not in page
    assert "url(" not in page


def test_rendering_is_none_of_a_recorded_program_s_doing(filming):
    seen = []
    filming.frame(0.0, WHITE)
    render(filming.footage(), progress=lambda *_: seen.append(boundary.current()))
    assert seen
    assert set(seen) == {None}


@pytest.mark.parametrize(
    ("page", "url", "worded"),
    [
        (WHITE, "about:blank", True),
        (clock_page(0), "about:blank", False),
        (WHITE, "https://example.com/", False),
    ],
    ids=["nothing opened", "with content", "a white page of a site"],
)
def test_a_video_begins_with_a_word_and_not_with_a_white_picture(filming, page, url, worded):
    filming.line("tab", 0.0, tab=0, what="opened", url=url, title="", opener=None)
    filming.frame(0.0, page)
    filming.line("end", 1.0)
    first = frames(render(filming.footage()))[0][1]
    shown = first.crop((0, 0, first.width, first.height - BAR))
    original = page.resize(shown.size)
    difference = ImageChops.difference(shown.convert("L"), original.convert("L")).point(
        lambda value: 255 * (value > 60)
    )
    assert (difference.getbbox() is not None) == worded
