"""What scripts needed help with: read as a patch, applied when the person has said so, and never over other work."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.chromium import CHROMIUM
from tests.console.conftest import serving
from tests.console.healing import heal
from tests.console.looking import faults

driven = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def healed(tmp_path_factory):
    """The home of the runs of a script that needed help, and the script."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium, or name one in CHROME")
    folder = tmp_path_factory.mktemp("healed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REENACT_HOME", str(folder / "home"))
        patch.delenv("REENACT_MODEL", raising=False)
        return folder / "home", heal(folder)


@driven
async def test_a_patch_is_read_and_applied_when_the_person_says_so(window, healed):
    home, script = healed
    before = script.read_text()
    with serving(home, keyless=True, running=True) as address:
        page = await window()
        await page.goto(f"{address}/heals")
        row = page.get_by_role("row").filter(has_text="#buy")
        await expect(row).to_contain_text("helped, and verified")
        await expect(page.get_by_role("row").filter(has_text="#voucher")).to_contain_text("dismiss")
        diff = page.locator("pre.diff")
        await expect(diff).to_contain_text('-            session.execute(type="click", selector="#buy"')
        await page.get_by_role("button", name="Apply to the script").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("#buy-17")
        assert script.read_text() == before

        # Somebody edits the script while the question stands there: nothing is written.
        script.write_text(before + "\n# mine\n")
        await dialog.get_by_role("button", name="Change the script").click()
        await expect(dialog.get_by_role("status")).to_contain_text("load it again")
        assert script.read_text() == before + "\n# mine\n"
        await page.reload()
        await expect(page.locator(".patch")).to_contain_text("has changed since it was run")
        await expect(page.get_by_role("button", name="Apply to the script")).to_have_count(0)

        script.write_text(before)
        await page.reload()
        await page.get_by_role("button", name="Apply to the script").click()
        await dialog.get_by_role("button", name="Change the script").click()
        await expect(page.locator(".patch .said")).to_contain_text("1 selector changed")
        assert "#buy-17" in script.read_text()
        assert script.with_name("shop.py.orig").read_text() == before
        await expect(page.locator(".patch")).to_contain_text("nothing to change")
        assert page.errors == []
    script.write_text(before)
    script.with_name("shop.py.orig").unlink()


@pytest.mark.thorough
@driven
@pytest.mark.parametrize(
    ("dark", "width"),
    [
        (False, 390),
        (True, 1440),
        pytest.param(True, 390, marks=pytest.mark.thorough),
        pytest.param(False, 1440, marks=pytest.mark.thorough),
    ],
)
async def test_heals_and_the_question_before_a_change_are_clean(window, healed, dark, width):
    home, _ = healed
    with serving(home, keyless=True, running=True) as address:
        page = await window(dark=dark, width=width)
        await page.goto(f"{address}/heals")
        await expect(page.locator("pre.diff")).to_contain_text("#buy-17")
        wrong = await faults(page)
        await page.get_by_role("button", name="Apply to the script").click()
        await expect(page.get_by_role("dialog")).to_contain_text("#buy-17")
        assert wrong + await faults(page) == []
        assert page.errors == []
