"""Each page of the console looks as in its picture, in both themes and three widths."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw

from tests.console import pictures


@pytest.fixture(scope="module")
def site():
    if not pictures.has_fonts():
        pytest.skip("the fonts of the pictures are missing: apt-get install fonts-dejavu-core")
    with pictures.served() as address:
        yield address


LOOKS = [
    pytest.param(
        width,
        theme,
        marks=[] if (width, theme) == (1280, "light") else pytest.mark.thorough,
        id=f"{width} {theme}",
    )
    for width in pictures.WIDTHS
    for theme in pictures.THEMES
]


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_each_page_looks_as_in_its_picture(chromium, site, tmp_path, width, theme):
    wrong = {}
    for name, seen in pictures.taken(chromium, site, width, theme):
        known = pictures.FOLDER / f"{name}-{width}-{theme}.png"
        with Image.open(known) as picture:
            count = pictures.differing(seen, picture)
        if count > pictures.MOST:
            wrong[name] = count
            seen.save(tmp_path / known.name)
    assert wrong == {}, f"see {tmp_path}; if they are meant: make console-pictures"


def test_the_pictures_are_those_of_the_pages_and_few():
    names = {
        f"{name}-{width}-{theme}.png"
        for name in pictures.PAGES
        for width in pictures.WIDTHS
        for theme in pictures.THEMES
    }
    assert {path.name for path in pictures.FOLDER.iterdir()} == names
    assert sum(path.stat().st_size for path in pictures.FOLDER.iterdir()) < 3_000_000


@pytest.fixture
def picture():
    with Image.open(pictures.FOLDER / "recording-1280-light.png") as opened:
        return opened.convert("RGB")


def test_a_moved_line_differs_and_a_lost_pixel_does_not(picture):
    moved = picture.copy()
    moved.paste(picture.crop((0, 0, 1280, 780)), (0, 3))
    assert pictures.differing(moved, picture) > pictures.MOST
    lost = picture.copy()
    for x in range(0, 1280, 40):
        lost.putpixel((x, 300), (255, 0, 0))
    assert pictures.differing(lost, picture) <= pictures.MOST


def test_a_lost_button_a_changed_colour_and_another_size_differ(picture):
    lost = picture.copy()
    ImageDraw.Draw(lost).rectangle((1100, 55, 1170, 85), fill=(255, 255, 255))
    assert pictures.differing(lost, picture) > pictures.MOST
    darker = picture.point(lambda level: max(level - 30, 0))
    assert pictures.differing(darker, picture) > pictures.MOST
    assert pictures.differing(picture.crop((0, 0, 1280, 700)), picture) > pictures.MOST
