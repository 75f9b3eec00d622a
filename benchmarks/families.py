"""Generate pages with records, reused ids, decoys, frames and shadow roots, before and after a change.

The generator makes its words from syllables, and shares none with the healer. A listener of the page's own notes which
element got an event: the healer cannot see the notes (`data-k` is no attribute that it reads).
"""

from __future__ import annotations

import html
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

TIMEOUT = 4000
"""Milliseconds of the steps' time-out. A step of which the element is known waits until the page is quiet."""

NOTE = """<script>window.seen = [];
for (const kind of ["click", "input"]) document.addEventListener(kind, (event) => {
  const at = event.composedPath().find((one) => one.dataset && one.dataset.k);
  if (event.isTrusted) (window.top || window).seen.push(at ? at.dataset.k : "beside");
}, true);
const act = (k) => SENDS ? fetch("/act", { method: "POST", body: k })
  : document.body.insertAdjacentHTML("beforeend", `<p>done ${k}</p>`);
document.addEventListener("click", (event) => {
  const at = event.composedPath().find((one) => one.dataset && one.dataset.k);
  if (at) act(at.dataset.k);
});</script>"""

Draw = random.Random


@dataclass(frozen=True)
class Case:
    """One run: a page before and after, the step, and the key of the element that is meant; None if it is gone."""

    family: str
    before: str
    after: str
    step: dict[str, Any]
    meant: str | None
    named: bool = True


# -- words and parts ---------------------------------------------------------------------------------------------

_HEADS = [
    "br",
    "ch",
    "d",
    "fl",
    "g",
    "gr",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "sk",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]  # fmt: skip
_TAILS = ["b", "ck", "d", "ft", "g", "l", "m", "mp", "n", "nd", "p", "r", "rk", "sh", "st", "t", "x"]  # fmt: skip


def word(draw: Draw, many: int = 2) -> str:
    """A made word, with a capital."""
    parts = [draw.choice(_HEADS) + draw.choice(_VOWELS) for _ in range(many)]
    return ("".join(parts) + draw.choice(_TAILS)).capitalize()


def words(draw: Draw, many: int) -> list[str]:
    """So many different words."""
    found: dict[str, None] = {}
    while len(found) < many:
        found[word(draw)] = None
    return list(found)


def key(draw: Draw) -> str:
    """A short id of no meaning."""
    return word(draw, 1).lower() + str(draw.randrange(10, 99))


Wrap = Callable[[str, Sequence[str]], str]
"""A function of a title and rows."""


def _table(name: str, rows: Sequence[str]) -> str:
    return f"<h3>{name}</h3><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _list(name: str, rows: Sequence[str]) -> str:
    return f"<h3>{name}</h3><ul>{''.join(f'<li>{row}</li>' for row in rows)}</ul>"


def _cards(name: str, rows: Sequence[str]) -> str:
    return f"<h3>{name}</h3><section>{''.join(f'<div class=one>{row}</div>' for row in rows)}</section>"


_ROWS: dict[Wrap, str] = {_table: "tr", _list: "li", _cards: "section > div"}


def _row(wrap: Wrap, texts: Sequence[str], control: str) -> str:
    tag = "td" if wrap is _table else "span"
    return "".join(f"<{tag}>{text}</{tag}> " for text in texts) + (
        f"<{tag}>{control}</{tag}>" if control else ""
    )


def _button(k: str, text: str, more: str = "") -> str:
    return f"<button type=button data-k={k} {more}>{text}</button>"


def _click(selector: str) -> dict[str, Any]:
    return {"type": "click", "selector": selector, "timeout": TIMEOUT}


# -- families ----------------------------------------------------------------------------------------------------


def _records(draw: Draw) -> tuple[Wrap, str, list[list[str]], list[str], list[str]]:
    wrap = draw.choice([_table, _list, _cards])
    many = draw.randrange(3, 8)
    kind = word(draw)
    numbered = draw.random() < 0.5
    start = draw.randrange(1, 90)
    names = [f"{kind} {start + place}" for place in range(many)] if numbered else words(draw, many)
    status = words(draw, 3)
    texts = [[name, draw.choice(status)] for name in names]
    return wrap, word(draw), texts, [f"r{place}" for place in range(many)], words(draw, 2)


def _drawn(
    wrap: Wrap, title: str, kept: Sequence[tuple[list[str], str]], verb: str, *, lost: str = "", two: str = ""
) -> str:
    rows = []
    for texts, k in kept:
        control = "" if k == lost else _button(k, verb) + (_button("o" + k, two) if two else "")
        rows.append(_row(wrap, texts, control))
    return wrap(title, rows)


def _where(wrap: Wrap, place: int) -> str:
    rows = _ROWS[wrap]
    return f"{rows}:nth-child({place + 1}) button:nth-of-type(1)"


def record_moved(draw: Draw) -> Case:
    """Another record comes before the one that the step means by its place."""
    wrap, title, texts, ks, verbs = _records(draw)
    place = draw.randrange(len(ks))
    kept = list(zip(texts, ks, strict=True))
    two = verbs[1] if draw.random() < 0.4 else ""
    after = [([word(draw), word(draw)], "new"), *kept]
    if draw.random() < 0.4:
        draw.shuffle(after)
    return Case("record moved", _drawn(wrap, title, kept, verbs[0], two=two),
                _drawn(wrap, title, after, verbs[0], two=two), _click(_where(wrap, place)), ks[place])  # fmt: skip


def record_gone(draw: Draw) -> Case:
    """The record is gone, by its place or by its words."""
    wrap, title, texts, ks, verbs = _records(draw)
    place = draw.randrange(len(ks))
    kept = list(zip(texts, ks, strict=True))
    after = [one for one in kept if one[1] != ks[place]]
    rows = _ROWS[wrap]
    by_words = f"{rows}:has-text({json.dumps(texts[place][0])}) >> text={verbs[0]}"
    step = _click(draw.choice([_where(wrap, place), by_words]))
    return Case(
        "record gone", _drawn(wrap, title, kept, verbs[0]), _drawn(wrap, title, after, verbs[0]), step, None
    )


def control_gone(draw: Draw) -> Case:
    """The record is there and has lost its button."""
    wrap, title, texts, ks, verbs = _records(draw)
    place = draw.randrange(len(ks))
    kept = list(zip(texts, ks, strict=True))
    rows = _ROWS[wrap]
    by_words = f"{rows}:has-text({json.dumps(texts[place][0])}) >> text={verbs[0]}"
    return Case("button of the record gone", _drawn(wrap, title, kept, verbs[0]),
                _drawn(wrap, title, kept, verbs[0], lost=ks[place]), _click(by_words), None)  # fmt: skip


def id_reused(draw: Draw) -> Case:
    """The id is another button's now; the one that is meant has another id, or is gone."""
    a, b, c = words(draw, 3)
    mark, other = key(draw), key(draw)
    before = f"<p>{c}</p>" + _button("meant", a, f"id={mark}") + _button("beside", b, f"id={other}")
    if draw.random() < 0.5:
        after = f"<p>{c}</p>" + _button("meant", a, f"id={key(draw)}") + _button("beside", b, f"id={mark}")
        return Case("id reused", before, after, _click(f"#{mark}"), "meant")
    after = f"<p>{c}</p>" + _button("beside", b, f"id={mark}")
    return Case("id reused", before, after, _click(f"#{mark}"), None)


def decoy(draw: Draw) -> Case:
    """A longer name, or a near one, stands beside it, and its id has changed; or only the decoy is left."""
    a, b, c = words(draw, 3)
    mark = key(draw)
    near = draw.choice([f"{a} {b}", f"{b} {a}", a[:-1] + draw.choice("aeiou") + "t"])
    before = f"<p>{c}</p>" + _button("meant", a, f"id={mark}")
    left = draw.random() < 0.6
    parts = [_button("decoy", near, f"id={key(draw)}")] + (
        [_button("meant", a, f"id={key(draw)}")] if left else []
    )
    draw.shuffle(parts)
    step = _click(draw.choice([f"#{mark}", f"~{a}"]) if not left else f"#{mark}")
    return Case("decoy", before, f"<p>{c}</p>" + "".join(parts), step, "meant" if left else None)


def icons(draw: Draw) -> Case:
    """Buttons with pictures alone: one is gone and the others slide, or their classes have other names."""
    many = draw.randrange(2, 5)
    paths = [
        f"M{draw.randrange(9)} {draw.randrange(9)}l{draw.randrange(9)} {place}v{draw.randrange(9)}"
        for place in range(many + 1)
    ]

    def made(which: Sequence[int], name: str) -> str:
        drawn = (
            f"<button type=button data-k=i{one} class={name}{one} style='width:36px;height:36px'>"
            f"<svg width=16 height=16><path d='{paths[one]}' stroke=black /></svg></button>"
            for one in which
        )
        return f"<p>{title}</p><div>{''.join(drawn)}</div>"

    title = word(draw)
    all_of = list(range(many + 1))
    at = draw.randrange(many)
    name = word(draw, 1).lower()
    if draw.random() < 0.6:
        return Case("icon slides", made(all_of, name), made([one for one in all_of if one != at], name),
                    _click(f"div > button:nth-child({at + 1})"), None, named=False)  # fmt: skip
    return Case("icon slides", made(all_of, name), made(all_of, word(draw, 1).lower()), _click(f".{name}{at}"),
                f"i{at}", named=False)  # fmt: skip


def fields(draw: Draw) -> Case:
    """Fields exchange their ids, get others, or one is gone and a field with a longer label is left."""
    a, b, c = words(draw, 3)
    one, two, three = key(draw), key(draw), key(draw)

    def form(*parts: tuple[str, str, str]) -> str:
        style = draw.choice(["around", "for"])
        made = (
            f"<label>{label} <input id={mark} data-k={k}></label>" if style == "around"
            else f"<div><label for={mark}>{label}</label><input id={mark} data-k={k}></div>"
            for label, mark, k in parts
        )  # fmt: skip
        return f"<h3>{c}</h3><form>{''.join(made)}</form>"

    before = form((a, one, "a"), (b, two, "b"))
    step = {"type": "fill", "selector": f"#{one}", "value": word(draw), "timeout": TIMEOUT}
    way = draw.randrange(4)
    if way == 0:
        return Case("fields", before, form((a, two, "a"), (b, one, "b")), step, "a")
    if way == 1:
        return Case("fields", before, form((b, two, "b"), (a, three, "a")), step, "a")
    if way == 2:
        return Case("fields", before, form((f"{b} {a}", three, "c"), (b, two, "b")), step, None)
    return Case("fields", before, form((b, one, "b")), step, None)


def frames(draw: Draw) -> Case:
    """The button is in a frame; its id has another name, or the frame has another content."""
    a, b, c = words(draw, 3)
    mark = key(draw)

    def framed(inner: str) -> str:
        document = html.escape(NOTE.replace("SENDS", "false") + inner)
        return f'<p>{c}</p><iframe width=400 height=160 srcdoc="{document}"></iframe>'

    before = framed(f"<p>{b}</p>" + _button("meant", a, f"id={mark}"))
    if draw.random() < 0.6:
        after = framed(f"<div><p>{b}</p>" + _button("meant", a, f"id={key(draw)}") + "</div>")
        return Case("frame", before, after, _click(f"#{mark}"), "meant")
    after = framed(f"<p>{b}</p>" + _button("other", word(draw), f"id={mark}"))
    return Case("frame", before, after, _click(f"#{mark}"), None)


def components(draw: Draw) -> Case:
    """Web components with slotted names: their order, or the component in that place, has changed."""
    tag = f"{word(draw, 1).lower()}-{word(draw, 1).lower()}"
    names = words(draw, draw.randrange(2, 5))
    made = (
        f"<script>customElements.define('{tag}', class extends HTMLElement {{ connectedCallback() {{"
        " this.attachShadow({mode: 'open'}).innerHTML = '<button type=button><slot></slot></button>' } })</script>"
    )

    def drawn(which: Sequence[str]) -> str:
        return (
            f"<p>{title}</p><div>"
            + "".join(f"<{tag} data-k=c{one}>{one}</{tag}>" for one in which)
            + f"</div>{made}"
        )

    title = word(draw)
    at = draw.randrange(len(names))
    step = _click(f"div > {tag}:nth-child({at + 1})")
    if draw.random() < 0.5:
        return Case("component", drawn(names), drawn([word(draw), *names]), step, f"c{names[at]}")
    left = [one if place != at else word(draw) for place, one in enumerate(names)]
    return Case("component", drawn(names), drawn(left), step, None)


def restless(draw: Draw) -> Case:
    """A list is drawn anew all the time, and its ids have other names; or the button is gone."""
    a, b, c = words(draw, 3)
    mark = key(draw)

    def drawn(inner: str) -> str:
        return (
            f"<p>{c}</p><div id=box></div><script>const draw = () => {{ box.innerHTML = {json.dumps(inner)} }};"
            f" draw(); setInterval(draw, {draw.choice([100, 150, 250])})</script>"
        )

    before = drawn(f"<p>{b}</p>" + _button("meant", a, f"id={mark}"))
    if draw.random() < 0.6:
        return Case("drawn anew", before, drawn(f"<p>{b}</p>" + _button("meant", a, f"id={key(draw)}")),
                    _click(f"#{mark}"), "meant")  # fmt: skip
    return Case("drawn anew", before, drawn(f"<p>{b}</p>" + _button("other", word(draw), f"id={key(draw)}")),
                _click(f"#{mark}"), None)  # fmt: skip


def rebuilt(draw: Draw) -> Case:
    """The page is built with other tags, classes and boxes, as by a new version of its library."""
    a, b, c = words(draw, 3)
    old, new = words(draw, 2)
    mark = key(draw)
    before = (
        f"<div class='{old}-panel'><h4 class='{old}-head'>{c}</h4><div class='{old}-body'>"
        f"<button type=button data-k=meant class='{old}-btn {mark}'>{a}</button>"
        f"<button type=button data-k=other class='{old}-btn {key(draw)}'>{b}</button></div></div>"
    )
    link = draw.random() < 0.3
    meant = f"<a href='#' data-k=meant class='{new}Action'>{a}</a>" if link else (
        f"<button type=button data-k=meant class='{new}Action'><span>{a}</span></button>")  # fmt: skip
    after = (
        f"<article class='{new}'><header><h3>{c}</h3></header><footer>"
        f"<button type=button data-k=other class='{new}Action'><span>{b}</span></button>{meant}</footer></article>"
    )
    return Case("rebuilt", before, after, _click(f".{mark}"), "meant")


FAMILIES: tuple[Callable[[Draw], Case], ...] = (
    record_moved, record_gone, control_gone, id_reused, decoy, icons, fields, frames, components, restless, rebuilt,
)  # fmt: skip


def case_of(seed: int, number: int) -> Case:
    """The case of a number: the same for the same seed."""
    draw = random.Random(f"{seed} {number}")
    made = FAMILIES[number % len(FAMILIES)](draw)
    sends = "true" if draw.random() < 0.5 else "false"
    note = NOTE.replace("SENDS", sends)
    return Case(made.family, note + made.before, note + made.after, made.step, made.meant, made.named)
