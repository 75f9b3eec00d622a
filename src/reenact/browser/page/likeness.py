"""Score the likeness of two elements, and find the elements of a page like a wanted one.

An element known by its fingerprint, or only by the words of a selector, is compared with those of the page part by
part: identifying parts (ids, test ids, names, labels, texts) weigh most, the position least. The score is the weighted
mean over the known parts of the wanted element; 1 means equal in all of them. The same page and fingerprint always give
the same scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, NamedTuple

from playwright.async_api import Frame, Locator, Page

from reenact.browser.page.isolated_world import chained, frame_chain, of_page, origin
from reenact.browser.page.selectors import Selector, parse
from reenact.browser.page.synonyms import meaning

WEIGHTS = {
    "test_id": 3.0,
    "id": 2.5,
    "field": 2.0,
    "name": 2.5,
    "label": 1.5,
    "caption": 1.5,
    "text": 1.5,
    "aria-label": 1.0,
    "placeholder": 1.5,
    "role": 1.5,
    "tag": 1.0,
    "type": 1.0,
    "href": 1.0,
    "src": 1.0,
    "title": 0.7,
    "alt": 1.0,
    "value": 0.7,
    "classes": 0.8,
    "heading": 0.7,
    "near": 0.8,
    "path": 0.8,
    "siblings": 0.2,
    "box": 0.4,
    "frames": 0.5,
    "words": 3.0,
    "shown": 3.0,
}
"""Weight of each part.

`words` are a selector's words of unknown meaning, `shown` is a text that it searches for.
"""

MOST = 10
"""Number of candidates that `similar` returns by default."""


class LikenessMatch(NamedTuple):
    """A candidate: its score (0 to 1), locator, fingerprint, and the score of each part."""

    score: float
    locator: Locator
    fingerprint: dict[str, Any]
    parts: dict[str, tuple[float, float]]
    """Weight and likeness (0 to 1) by part."""
    spot: str = ""
    """Its position in its frame, as a selector."""


def likeness(
    wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> tuple[float, dict[str, tuple[float, float]]]:
    """Return the likeness of an element to a wanted one, and each part's weight and likeness."""
    sought, had = _flat(wanted), _flat(found)
    parts = {}
    for part, weight in WEIGHTS.items():
        if sought.get(part) in (None, "", [], ()):
            continue
        parts[part] = (weight, round(_part(part, sought[part], had.get(part), had), 4))
    total = sum(weight for weight, _ in parts.values())
    score = sum(weight * alike for weight, alike in parts.values()) / total if total else 0.0
    return round(score, 4), parts


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    attributes = facts.get("attributes") or {}
    flat = {key: value for key, value in facts.items() if key != "attributes"}
    for name, value in attributes.items():
        if name == "name":
            flat["field"] = value
        elif name.startswith("data-test"):
            flat["test_id"] = value
        elif name in WEIGHTS:
            flat[name] = value
    if flat.get("label") and flat.get("label") == flat.get("name"):
        del flat["label"]  # counted once
    if flat.get("text") and flat.get("text") == flat.get("name"):
        del flat["text"]
    if flat.get("label") or flat.get("name"):
        flat.pop("caption", None)  # a field with a label or name needs no caption
    return flat


def _part(part: str, sought: Any, had: Any, other: Mapping[str, Any]) -> float:
    if part in {"words", "shown"}:
        return _words(str(sought), other, 1.0 if part == "words" else 0.6)
    if part in {"name", "label", "text", "placeholder", "aria-label"}:
        # A label that became a placeholder, or a text that became an aria-label, is still the element's name.
        names = (had, *(other.get(name) for name in ("name", "text", "label", "placeholder", "aria-label")))
        best = alike(str(sought), str(had or ""))
        return max(best, *(0.85 * alike(str(sought), str(name or "")) for name in names[1:]))
    if had in (None, "", [], ()):
        return 0.0
    if part in {"tag", "role", "type", "frames"}:
        return 1.0 if sought == had else 0.0
    if part == "classes":
        return float(len(set(sought) & set(had)) / len(set(sought) | set(had)))
    if part == "near":
        return float(sum(max(alike(one, another) for another in had) for one in sought) / len(sought))
    if part == "siblings":
        return float(min(sought, had) / max(sought, had))
    if part == "box":
        return _place(sought, had)
    if part == "path":
        return _path(str(sought), str(had))
    return spelled(str(sought), str(had))


@lru_cache(maxsize=8192)
def alike(one: str, other: str) -> float:
    """Return the likeness of two texts, 0 to 1: the highest of letters, words and meaning.

    Case is ignored.
    """
    found = spelled(one, other)
    return 0.95 if found < 0.95 and _plain(one) and meaning(one) == meaning(other) else found


@lru_cache(maxsize=8192)
def spelled(one: str, other: str) -> float:
    """Return the likeness by letters and words, without meaning, for names in code."""
    one, other = _plain(one), _plain(other)
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    letters = SequenceMatcher(None, one, other, autojunk=False).ratio()
    mine, theirs = set(one.split()), set(other.split())
    return max(letters if letters > 0.5 else letters / 2, 0.95 * len(mine & theirs) / len(mine | theirs))


def _plain(text: str) -> str:
    """Return a text in lower case, with camel case, dashes and underscores as spaces."""
    return " ".join(re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text[:200])).lower().split())


def _words(sought: str, other: Mapping[str, Any], worth: float) -> float:
    """Return the best likeness to an element's visible texts and its names in code.

    `worth` is the weight of the names in code, lower for a visible text.
    """
    names = [other.get(name) for name in ("name", "text", "label", "placeholder", "title", "alt", "value")]
    keys = [other.get(name) for name in ("id", "field", "test_id", "href", "src")]
    shown = max((alike(sought, str(one)) for one in names if one), default=0.0)
    coded = max(
        (spelled(sought, str(one)) for one in [*keys, " ".join(other.get("classes") or ())] if one),
        default=0.0,
    )
    return max(shown, worth * coded)


def _place(one: Sequence[float], other: Sequence[float]) -> float:
    apart = abs(one[0] - other[0]) + abs(one[1] - other[1]) + abs(one[2] - other[2]) + abs(one[3] - other[3])
    return float(1 / (1 + apart / 100))


_STEPS = 200  # most steps of a path that are compared


def _path(one: str, other: str) -> float:
    mine, theirs = one.split("/", _STEPS)[:_STEPS], other.split("/", _STEPS)[:_STEPS]
    ends = max(len(mine), len(theirs))
    from_above = next(
        (at for at, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b),
        min(len(mine), len(theirs)),
    )
    tags = SequenceMatcher(
        None, [step.split("[")[0] for step in mine], [step.split("[")[0] for step in theirs], autojunk=False
    )
    return (from_above / ends + tags.ratio()) / 2


NEAR = 0.75
"""The likeness above which two texts without a common word may be the same, as with a typo."""

_NAMING = {
    "test_id", "id", "field", "name", "label", "caption", "text", "aria-label", "placeholder", "title", "alt", "value",
    "href", "src", "classes", "words", "shown",
}  # fmt: skip
"""The parts that name an element."""


def named_alike(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Return True if the elements' names share a word or most letters.

    Equal tags, places and single letters do not count: `popup-close` is not *Products*. True if the wanted element has
    no naming part.
    """
    _, parts = likeness(wanted, found)
    naming = [part for part in parts if part in _NAMING]
    if not naming or any(parts[part][1] >= NEAR for part in naming):
        return True
    sought, had = _flat(wanted), _flat(found)
    mine = _words_of(sought[part] for part in naming)
    return bool(mine & _words_of(had.get(part) for part in _NAMING))


def _words_of(values: Iterable[Any]) -> set[str]:
    """Return the words of three letters or more in some texts and lists of texts."""
    texts = (text for value in values for text in (value if isinstance(value, (list, tuple)) else [value]))
    return {word for text in texts if text for word in _plain(str(text)).split() if len(word) > 2}


# ------------------------------------------------------------------------------------------------- on a page


async def similar(
    fingerprint: Mapping[str, Any], page: Page, *, most: int = MOST, secret: Sequence[str] = ()
) -> list[LikenessMatch]:
    """Return the elements of a page that are most like the wanted one, best first.

    Args:
        fingerprint: That of the wanted element; it may have only a few parts (`sought`).
        page: The page; all its frames are searched.
        most: The most elements to return.
        secret: CSS selectors of elements whose content must not be shown.

    Returns:
        Matches. The lead of the first one measures certainty: `matches[0].score - matches[1].score`.
    """
    flat = _flat(fingerprint)
    texts = [
        str(flat[key])
        for key in WEIGHTS
        if isinstance(flat.get(key), str) and key not in {"tag", "role", "path"}
    ]
    attributes = {k: v for k, v in (fingerprint.get("attributes") or {}).items() if isinstance(v, str)}
    wanted = {
        "tag": flat.get("tag", ""),
        "role": flat.get("role", ""),
        "words": sorted({word for text in texts for word in _plain(text).split()}),
        "attributes": attributes,
    }
    hidden = [one.removeprefix("css=") for one in secret]
    request = {"wanted": wanted, "selectors": hidden, "most": max(60, most)}
    scored = []
    for number, (frame, answer) in enumerate(await of_page(page, "candidates", request)):
        chain, (left, top) = await _within(frame)
        for order, (path, facts) in enumerate(answer["found"]):
            x, y, width, height = facts["box"]
            facts |= {"frames": chain, "box": [x + left, y + top, width, height]}
            score, parts = likeness(fingerprint, facts)
            scored.append((-score, number, order, path, facts, parts))
    scored.sort(key=lambda one: one[:3])
    return [
        LikenessMatch(-score, _at(page.main_frame, facts["frames"], path), facts, parts, path)
        for score, _, _, path, facts, parts in scored[:most]
        if score
    ]


async def _within(frame: Frame) -> tuple[list[str], tuple[float, float]]:
    if frame.parent_frame is None:
        return [], (0.0, 0.0)
    return await frame_chain(frame), await origin(frame)


def _at(frame: Frame, chain: Sequence[str], path: str) -> Locator:
    return parse(chained(chain, path))[0].within(frame)


# ------------------------------------------------------------------------------- the element that a selector
# describes

_ATTRIBUTE = re.compile(r"\[\s*([\w-]+)\s*[*^$~|]?=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\]\s]+))\s*[is]?\s*\]")
_ID = re.compile(r"#((?:[\w-]|\\.)+)")
_CLASS = re.compile(r"\.((?:[A-Za-z_-]|\\.)(?:[\w-]|\\.)*)")
_TAG = re.compile(r"^([a-zA-Z][\w-]*)")
_CALL = re.compile(
    r"get_by_(\w+)\(\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)')(?:.*?name=(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'))?"
)
_ROLE = re.compile(r"(?:internal:)?role=(\w+)(?:.*?\[name\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'))?")
_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")
_READ = 1000  # characters of a selector that are read
_KINDS = {"text": "text", "label": "label", "placeholder": "placeholder", "alt_text": "alt", "title": "title"}


def sought(selectors: Sequence[Selector]) -> dict[str, Any]:
    """Return a fingerprint of the few parts that selectors reveal of their element."""
    known: dict[str, Any] = {"attributes": {}}
    for selector in selectors:
        for key, value in _parts_of(selector).items():
            if key == "attributes":
                known["attributes"] = {**value, **known["attributes"]}
            else:
                known.setdefault(key, value)
    return known


def _parts_of(selector: Selector) -> dict[str, Any]:
    body = " ".join(selector.body[:_READ].split())
    if selector.kind == "text":
        return {"shown": body}
    if selector.kind == "expression":
        calls = _CALL.findall(body)
        if calls:
            kind, first, second, name, other = calls[-1]
            return _named_parts(kind, first or second, name or other)
    last = body.rsplit(" >> ", 1)[-1]
    role = _ROLE.match(last)
    if role:
        return {"role": role[1], **({"name": role[2] or role[3]} if role[2] or role[3] else {})}
    if last.startswith(("text=", "internal:text=")):
        return {"shown": last.split("=", 1)[1].strip("\"'i")}
    if last.startswith(("xpath=", "/", "(")):
        return _by_xpath(last)
    return _by_css(last.removeprefix("css="))


def _named_parts(kind: str, value: str, name: str) -> dict[str, Any]:
    if kind == "role":
        return {"role": value, **({"name": name} if name else {})}
    if kind == "test_id":
        return {"attributes": {"data-testid": value}}
    return {"shown": value} if kind == "text" else {_KINDS.get(kind, "words"): value}


def _by_css(text: str) -> dict[str, Any]:
    said: dict[str, Any] = {"attributes": {}}
    has = re.search(r":(?:has-text|text|text-is)\(\s*[\"'](.+?)[\"']\s*\)", text)
    compound = re.split(r"\s*[>+~\s]\s*(?![^\[\(]*[\]\)])", text.strip())[-1]
    for name, *values in _ATTRIBUTE.findall(compound):
        said["attributes"][name] = next((value for value in values if value), "")
    bare = _ATTRIBUTE.sub("", compound)
    if has:
        said["shown"] = has[1]
        bare = bare.split(":", 1)[0]
    found = _ID.search(bare)
    if found:
        said["attributes"]["id"] = found[1].replace("\\", "")
        said["words"] = said.get("words") or said["attributes"]["id"]
    classes = _CLASS.findall(bare)
    if classes:
        said["classes"] = classes
        said.setdefault("words", " ".join(classes))
    tag = _TAG.match(bare)
    if tag:
        said["tag"] = tag[1].lower()
    if (role := said["attributes"].pop("role", None)) is not None and ":is(" not in compound:
        said["role"] = role
    if said["attributes"] and "words" not in said:
        said["words"] = next(iter(said["attributes"].values()))
    return said


def _by_xpath(text: str) -> dict[str, Any]:
    said: dict[str, Any] = {"attributes": {}}
    step = re.split(r"/(?![^\[]*\])", text)[-1]
    tag = re.match(r"([a-zA-Z][\w-]*)", step)
    if tag:
        said["tag"] = tag[1].lower()
    for name, value, other in re.findall(r"@([\w-]+)\s*[=,]\s*(?:\"([^\"]*)\"|'([^']*)')", step):
        said["attributes"][name] = value or other
    texts = [
        one or other
        for one, other in _QUOTED.findall(re.sub(r"@[\w-]+\s*[=,]\s*(\"[^\"]*\"|'[^']*')", "", step))
    ]
    if texts:
        said["shown"] = texts[0]
    elif said["attributes"]:
        said["words"] = next(iter(said["attributes"].values()))
    return said
