"""Each page of the console, reached by clicking, looks as in its picture: in both themes and three widths."""

from __future__ import annotations

import pytest
from PIL import Image, ImageDraw

from tests.console import pictures
from tests.console.stage.conftest import AXE

AXE_AT = {390: "dark", 1280: "light", 2560: "dark"}
"""The looks that axe examines: it takes as long as all pictures. tests/console/test_looks.py has the others."""
RIGHT = "Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll('main section')].map((el) => el.getBoundingClientRect().right))"


@pytest.fixture(scope="module")
def site():
    if not pictures.has_fonts():
        pytest.skip("the fonts of the pictures are missing: apt-get install fonts-dejavu-core")
    with pictures.served() as address:
        yield address


@pytest.fixture
def window(chromium, site, request):
    """A page of this width. What its script complains of fails the test."""
    wrong = []
    with pictures.window(chromium, site, request.param) as page:
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("response", lambda told: wrong.append(told.url) if told.status >= 400 else None)
        yield page
    assert [one for one in wrong if not one.endswith("/video")] == []


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("window", pictures.WIDTHS, indirect=True)
def test_every_page_is_reached_by_clicking_and_looks_as_in_its_picture(window, tmp_path):
    width, wrong = window.viewport_size["width"], {}
    for name in pictures.clicked(window):
        assert window.evaluate(RIGHT) <= width, name
        for theme in pictures.THEMES:
            window.emulate_media(color_scheme=theme)
            known = pictures.FOLDER / f"{name}-{width}-{theme}.png"
            count, look = pictures.compared(window, known)
            if count > pictures.MOST:
                wrong[known.name] = count
                look.save(tmp_path / known.name)
            if AXE_AT.get(width) == theme:
                window.evaluate(AXE.read_text())
                found = window.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
                assert [(each["id"], each["nodes"][0]["html"]) for each in found] == [], known.name
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
