"""Stands in until sight, selectors, why, secret and scrape are there; deleted then."""

from __future__ import annotations

from typing import Any


def parse(selector: Any) -> list[str]:
    if isinstance(selector, dict):
        return [s for v in selector.values() if v for s in parse(v)]
    return [f"text={selector[1:]}" if selector.startswith("~") else selector]


async def resolve(page: Any, selector: Any, timeout: float) -> Any:
    options = parse(selector)
    last = None
    for number, one in enumerate(options):
        locator = page.locator(one)
        try:
            wait = timeout if number == len(options) - 1 else 500
            await locator.first.wait_for(state="attached", timeout=wait)
            return locator if await locator.count() == 1 else locator.first
        except Exception as error:
            last = error
    raise last or ValueError("no selector")


class Sight:
    def __init__(self, text: str, elements: list[Any]) -> None:
        self.text, self.elements = text, elements


async def look(page: Any) -> Sight:
    import re

    text = await page.aria_snapshot(mode="ai", boxes=True)
    counts: dict[str, int] = {}
    out, elements = [], []
    letters = {"button": "B", "link": "L", "textbox": "I", "checkbox": "I", "combobox": "I", "radio": "I"}
    for line in text.splitlines():
        found = re.match(r'\s*- (\w+)(?: "((?:[^"\\]|\\.)*)")?.*\[ref=(\w+)\]', line)
        if found and found[1] in letters:
            letter = letters[found[1]]
            counts[letter] = counts.get(letter, 0) + 1
            id_ = f"{letter}{counts[letter]}"
            elements.append(
                {"id": id_, "role": found[1], "name": found[2] or "", "ref": found[3], "value": None}
            )
            line = re.sub(r"\[ref=\w+\]", f"[id={id_}]", line)
        else:
            line = re.sub(r" \[ref=\w+\]", "", line)
        out.append(re.sub(r" \[box=[^\]]*\]", "", line))
    return Sight("\n".join(out), elements)


async def locate(page: Any, sight: Any, id_: str) -> Any:
    for element in sight.elements if sight else ():
        if element["id"] == id_:
            return page.get_by_ref(element["ref"])
    raise ValueError(f"there is no {id_!r} in the last observation: observe again")


async def durable(locator: Any) -> dict[str, Any]:
    return {"playwright": str(await locator.normalize())}


async def fingerprint(locator: Any) -> dict[str, Any]:
    return {}


async def is_secret(locator: Any, mask: Any = ()) -> bool:
    return bool(
        await locator.evaluate(
            "e => e.type === 'password' || /cc-(num|csc)|one-time/.test(e.autocomplete||'')"
        )
    )


async def markdown(
    page: Any, selector: Any = None, only_main_content: bool = True, links: bool = True
) -> str:
    return str(await page.locator("body").inner_text())
