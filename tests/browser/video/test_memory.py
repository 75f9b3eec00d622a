"""A session may go on for a day: what is held does not grow with its pictures."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from PIL import Image

from reenact.browser.video import facts, render
from reenact.browser.video.timeline import VideoTimeline
from tests.browser.sketching import Filming, clock_page

STATM = Path("/proc/self/statm")


def long_session(folder, count, *, viewport=(320, 180), seconds=0.125):
    """Many pictures, by default eight a second, of a few pages that come again and again."""
    filming = Filming(folder, viewport=viewport)
    blobs = [filming.frame(0.0, clock_page(number, viewport)) for number in range(7)]
    width, height = viewport
    lines = []
    for number in range(1, count):
        t = number * seconds
        blob = blobs[number % 7]
        lines.append(
            f'{{"event":"frame","t":{t},"tab":0,"blob":"{blob}","width":{width},"height":{height},"masks":[]}}\n'
        )
    filming.raw("".join(lines).encode())
    return filming.footage()


def test_the_frames_of_a_long_session_are_not_held(tmp_path):
    footage = long_session(tmp_path, 10_000)
    tracemalloc.start()
    try:
        timeline = VideoTimeline(footage, facts.read(footage))
        assert sum(1 for _ in timeline.shots()) >= 9_990
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.thorough
@pytest.mark.skipif(not STATM.exists(), reason="this system does not tell how much memory is in use")
def test_drawing_and_encoding_hold_no_frame_either(tmp_path):
    footage = long_session(tmp_path, 600)
    used = []

    def told(done, all):
        used.append(int(STATM.read_text(encoding="utf-8").split()[1]) * 4096)

    render(footage, progress=told)
    # What x264 looks ahead and Pillow caches is there after a quarter. Every frame held would be 100 MB.
    assert max(used) - used[len(used) // 4] < 12_000_000


def test_a_picture_that_comes_again_is_decoded_once(tmp_path, monkeypatch):
    filming = Filming(tmp_path)
    one, other = Image.new("RGB", (640, 360), "white"), Image.new("RGB", (640, 360), "grey")
    for number in range(30):
        filming.frame(number / 10, other if number % 3 == 0 else one)
    opened = []
    real = Image.open
    monkeypatch.setattr(Image, "open", lambda *given, **options: opened.append(1) or real(*given, **options))
    render(filming.footage())
    assert len(opened) == 2
