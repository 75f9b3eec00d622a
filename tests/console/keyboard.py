"""A page by keyboard: what Tab reaches, in which order, and whether it is seen where the focus is."""

from __future__ import annotations

FOCUSED = """() => {
    const el = document.activeElement;
    if (!el || el === document.body || el === document.documentElement) return null;
    if (!window.reached) window.reached = [];
    const before = window.reached.at(-1), again = window.reached.includes(el);
    window.reached.push(el);
    const style = getComputedStyle(el), at = el.getBoundingClientRect();
    const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return {
        name: `${el.localName}${el.id ? "#" + el.id : ""}.${el.className} ${(el.ariaLabel || el.textContent || "").slice(0, 40)}`,
        again, frame: el.localName === "iframe",
        seen: ringed || style.boxShadow !== "none" || el.localName === "iframe",
        there: at.width > 0 && at.height > 0 && at.right > 0 && at.left < innerWidth && at.bottom > 0 && at.top < innerHeight,
        back: Boolean(before && before.compareDocumentPosition(el) & Node.DOCUMENT_POSITION_PRECEDING),
    };
}"""
"""About the element in focus: its name, whether a ring is around it, whether it is within the window, and its order."""

MISSED = """() => [...document.querySelectorAll("a[href], button, input, select, summary, textarea, [tabindex='0']")]
    .filter((el) => el.checkVisibility({visibilityProperty: true}) && !el.disabled && el.tabIndex >= 0
        && !el.closest("[inert]") && !(window.reached || []).some((one) => one === el || (el.role === "tablist" && el.contains(one))))
    .map((el) => el.outerHTML.slice(0, 120))"""
"""The controls that Tab did not reach."""

BEGIN = """() => {
    window.reached = [];
    scrollTo(0, 0);
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
    document.body.blur();
}"""
"""Let Tab begin at the top of the page, wherever the last click was."""

MOST = 300


def found(steps: list[dict], missed: list[str]) -> list[str]:
    """What is wrong with a walk by Tab."""
    wrong = [f"no ring is seen around {one['name']}" for one in steps if not one["seen"]]
    wrong += [f"{one['name']} is outside of the window" for one in steps if not one["there"]]
    wrong += [f"{one['name']} comes before the one in front of it" for one in steps if one["back"]]
    return wrong + [f"Tab does not reach {one}" for one in missed]


# A frame in another process gets the focus late: for one key the page has no element in focus, and the walk goes on.
def walked(page) -> list[str]:
    """Walk a page by Tab from its beginning, and return what is wrong; for a page of Playwright's blocking kind."""
    page.evaluate(BEGIN)
    steps, unfocused = [], 0
    for _ in range(MOST):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUSED)
        unfocused = unfocused + 1 if one is None else 0
        if unfocused == 1:
            continue
        if one is None or (one["again"] and not one["frame"]):
            break
        if not one["again"]:  # the controls of a frame are reached within it
            steps.append(one)
    return found(steps, page.evaluate(MISSED))


async def awalked(page) -> list[str]:
    """The same, for a page of Playwright's other kind."""
    await page.evaluate(BEGIN)
    steps, unfocused = [], 0
    for _ in range(MOST):
        await page.keyboard.press("Tab")
        one = await page.evaluate(FOCUSED)
        unfocused = unfocused + 1 if one is None else 0
        if unfocused == 1:
            continue
        if one is None or (one["again"] and not one["frame"]):
            break
        if not one["again"]:  # the controls of a frame are reached within it
            steps.append(one)
    return found(steps, await page.evaluate(MISSED))
