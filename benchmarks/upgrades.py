"""Generate pages that use a library, before and after a real upgrade of it.

The libraries come from the package index at benchmark time (`libraries/package-lock.json`): Bootstrap 4 and 5, Shoelace
2.0.0-beta.50 and 2.20, the browser builds of Vue 2 and 3. The markup is changed as each library's guide to its upgrade
says.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.families import NOTE, TIMEOUT, Case, Draw, word, words

LOCK = Path(__file__).parent / "libraries"
PLACE = Path(__file__).parents[1] / ".pages" / "libraries"


def fetched() -> Path | None:
    """Fetch the libraries, once; None where there is no npm or no package index."""
    modules = PLACE / "node_modules"
    if (modules / ".package-lock.json").is_file():
        return modules
    npm = shutil.which("npm")
    if npm is None:
        return None
    PLACE.mkdir(parents=True, exist_ok=True)
    for file in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(LOCK / file, PLACE / file)
    done = subprocess.run([npm, "ci", "--ignore-scripts"], cwd=PLACE, check=False, capture_output=True)
    return modules if done.returncode == 0 else None


class Part(NamedTuple):
    """A thing to act on: the names that the page shows, in order; a body for each version of the library; a step."""

    before: Callable[[Sequence[str]], str]
    after: Callable[[Sequence[str]], str]
    step: dict[str, Any]
    place: int = 1


def _each(names: Sequence[str], form: str, *, wrap: str = "{}") -> str:
    made = (form.replace("NAME", name).replace("KEY", f"data-k={name}").replace("ID", f"i{place}")
            for place, name in enumerate(names))  # fmt: skip
    return wrap.format("".join(made))


def _part(old: tuple[str, str], new: tuple[str, str], step: dict[str, Any]) -> Part:
    return Part(
        lambda names: _each(names, old[1], wrap=old[0]),
        lambda names: _each(names, new[1], wrap=new[0]),
        {"timeout": TIMEOUT, **step},
    )


def _click(selector: str) -> dict[str, Any]:
    return {"type": "click", "selector": selector}


def _fill(selector: str) -> dict[str, Any]:
    return {"type": "fill", "selector": selector, "value": "Lorem"}


BOOTSTRAP = {
    "card": _part(
        ("<div class='card-deck'>{}</div>", ("<div class='card'><div class='card-body'><h5 class='card-title'>NAME</h5>"
         "<button type=button KEY class='btn btn-primary btn-block'>Choose</button></div></div>")),
        ("<div class='row row-cols-3 g-3'>{}</div>", ("<div class='col'><div class='card h-100'><div class='card-body'>"
         "<h5 class='card-title'>NAME</h5><div class='d-grid'><button type=button KEY class='btn "
         "btn-primary'>Choose</button>"
         "</div></div></div></div>")),
        _click(".card-deck > .card:nth-child(2) .btn-block")),
    "field": _part(
        ("<form>{}</form>", ("<div class='form-group'><label for=ID>NAME</label><input id=ID KEY "
         "class='form-control'></div>")),
        ("<form>{}</form>", ("<div class='mb-3'><label for=ID class='form-label'>NAME</label>"
         "<input id=ID KEY class='form-control'></div>")),
        _fill(".form-group:nth-child(2) input")),
    "checkbox": _part(
        ("<form>{}</form>", ("<div class='custom-control custom-checkbox'><input type=checkbox id=ID KEY "
         "class='custom-control-input'><label class='custom-control-label' for=ID KEY>NAME</label></div>")),
        ("<form>{}</form>", ("<div class='form-check'><input type=checkbox id=ID KEY class='form-check-input'>"
         "<label class='form-check-label' for=ID KEY>NAME</label></div>")),
        _click(".custom-control:nth-child(2) .custom-control-label")),
    "select": _part(
        ("<form>{}</form>", ("<div class='form-group'><label for=ID>NAME</label><select id=ID KEY "
         "class='custom-select'>"
         "<option>one<option>two</select></div>")),
        ("<form>{}</form>", ("<div class='mb-3'><label for=ID class='form-label'>NAME</label>"
         "<select id=ID KEY class='form-select'><option>one<option>two</select></div>")),
        {"type": "select_dropdown_option", "selector": ".form-group:nth-child(2) .custom-select", "value": "two"}),
    "table": _part(
        ("<table class='table'><tbody>{}</tbody></table>", ("<tr><td>NAME</td><td class='text-right'>"
         "<a href='#' role=button KEY class='badge badge-danger'>Drop</a></td></tr>")),
        ("<table class='table'><tbody>{}</tbody></table>", ("<tr><td>NAME</td><td class='text-end'>"
         "<a href='#' role=button KEY class='badge text-bg-danger'>Drop</a></td></tr>")),
        _click("tr:nth-child(2) .text-right .badge-danger")),
    "tabs": _part(
        ("<ul class='nav nav-tabs' role=tablist>{}</ul>", ("<li class='nav-item'><a class='nav-link' "
         "data-toggle=tab KEY "
         "href='#' role=tab>NAME</a></li>")),
        ("<ul class='nav nav-tabs' role=tablist>{}</ul>", ("<li class='nav-item' role=presentation><button type=button "
         "class='nav-link' data-bs-toggle=tab KEY role=tab>NAME</button></li>")),
        _click(".nav-item:nth-child(2) > a.nav-link")),
    "menu": _part(
        ("<div class='dropdown'><div class='dropdown-menu show'>{}</div></div>",
         "<a class='dropdown-item' href='#' KEY>NAME</a>"),
        ("<div class='dropdown'><ul class='dropdown-menu show'>{}</ul></div>",
         "<li><a class='dropdown-item' href='#' KEY>NAME</a></li>"),
        _click(".dropdown-menu > a:nth-child(2)")),
    "group": _part(
        ("<form>{}</form>", ("<div class='input-group'><input class='form-control' aria-label='NAME count'>"
         "<div class='input-group-append'><button type=button KEY class='btn btn-outline-secondary'>Add "
         "NAME</button></div></div>")),
        ("<form>{}</form>", ("<div class='input-group'><input class='form-control' aria-label='NAME count'>"
         "<button type=button KEY class='btn btn-outline-secondary'>Add NAME</button></div>")),
        _click(".input-group:nth-child(2) .input-group-append > button")),
    "modal": _part(
        ("{}", ("<div class='modal' id=ID tabindex=-1 role=dialog aria-labelledby=tID><div "
         "class='modal-dialog'><div class='modal-content'>"
         "<div class='modal-header'><h5 id=tID>NAME</h5></div><div class='modal-footer'><button type=button KEY "
         "class='btn btn-primary' data-dismiss=modal>Agree</button></div></div></div></div>")),
        ("{}", ("<div class='modal' id=ID tabindex=-1 aria-labelledby=tID><div class='modal-dialog'><div "
         "class='modal-content'>"
         "<div class='modal-header'><h1 class='fs-5' id=tID>NAME</h1></div><div class='modal-footer'><button "
         "type=button KEY "
         "class='btn btn-primary' data-bs-dismiss=modal>Agree</button></div></div></div></div>")),
        _click("button[data-dismiss=modal]:visible")),
}  # fmt: skip

SHOELACE = {
    "button": _part(
        ("<div>{}</div>", "<sl-button type=default KEY>NAME</sl-button>"),
        ("<div>{}</div>", "<sl-button variant=default KEY>NAME</sl-button>"),
        _click("sl-button[type=default] >> nth=1")),
    "record": _part(
        ("<div>{}</div>", "<sl-card><b slot=header>NAME</b><sl-button type=danger KEY>Drop</sl-button></sl-card>"),
        ("<div>{}</div>", "<sl-card><b slot=header>NAME</b><sl-button variant=danger KEY>Drop</sl-button></sl-card>"),
        _click("sl-card:nth-child(2) sl-button[type=danger]")),
    "field": _part(
        ("<sl-form>{}</sl-form>", "<sl-input label=NAME KEY></sl-input>"),
        ("<form>{}</form>", "<sl-input label=NAME KEY></sl-input>"),
        _fill("sl-form > sl-input:nth-of-type(2) >> input")),
    "switch": _part(
        ("<sl-form>{}</sl-form>", "<sl-switch KEY>NAME</sl-switch>"),
        ("<form>{}</form>", "<sl-switch KEY>NAME</sl-switch>"),
        _click("sl-form > sl-switch:nth-of-type(2)")),
    "checkbox": _part(
        ("<sl-form>{}</sl-form>", "<sl-checkbox KEY>NAME</sl-checkbox>"),
        ("<form>{}</form>", "<sl-checkbox KEY>NAME</sl-checkbox>"),
        _click("sl-form > sl-checkbox:nth-of-type(2)")),
    "menu": _part(
        ("<sl-menu>{}</sl-menu>", "<sl-menu-item KEY>NAME</sl-menu-item>"),
        ("<sl-menu>{}</sl-menu>", "<sl-menu-item KEY>NAME</sl-menu-item>"),
        _click("sl-menu-item:nth-child(2) >> .menu-item")),
    "details": _part(
        ("<div>{}</div>", "<sl-details summary=NAME KEY>more</sl-details>"),
        ("<div>{}</div>", "<sl-details summary=NAME KEY>more</sl-details>"),
        _click("sl-details:nth-child(2) >> header")),
    "icon button": _part(
        ("<div>{}</div>", "<p>NAME <sl-icon-button name=x label=Drop KEY></sl-icon-button></p>"),
        ("<div>{}</div>", "<p>NAME <sl-icon-button name=x label=Drop KEY></sl-icon-button></p>"),
        _click("p:nth-of-type(2) sl-icon-button >> button")),
}  # fmt: skip

_LIST = """<div id=app><ul><li v-for="one in rows" :key="one"><span>{{ one }}</span>
<button type=button v-bind:data-k="one" v-on:click="rows = rows.slice()" v-bind:disabled="false" class="go">Raise
</button></li></ul></div>"""
_FORM = """<div id=app><form><div v-for="one in rows" v-bind:key="one"><label>{{ one }}
<input v-model="said[one]" v-bind:data-k="one"></label></div></form></div>"""
_TABS = """<div id=app><my-tabs v-bind:rows="rows"></my-tabs></div>"""


def _vue(template: str) -> tuple[Callable[[Sequence[str]], str], Callable[[Sequence[str]], str]]:
    tabs = (
        'props: [\'rows\'], template: \'<div class=tabs><button type=button v-for="one in rows" v-bind:key="one"'
        ' v-bind:data-k="one" class="go">{{ one }}</button></div>\''
    )

    def made(names: Sequence[str], start: str) -> str:
        data = f"{{ data() {{ return {{ rows: {list(names)!r}, said: {{}} }} }} }}"
        return f"{template}<script>{start.replace('DATA', data).replace('TABS', '{' + tabs + '}')}</script>"

    two = "Vue.component('my-tabs', TABS); new Vue(DATA).$mount('#app')"
    three = "Vue.createApp(DATA).component('my-tabs', TABS).mount('#app')"
    return lambda names: made(names, two), lambda names: made(names, three)


VUE = {
    "list": Part(*_vue(_LIST), {"timeout": TIMEOUT, **_click("li:nth-child(2) .go")}),
    "form": Part(*_vue(_FORM), {"timeout": TIMEOUT, **_fill("form > div:nth-child(2) input")}),
    "component": Part(*_vue(_TABS), {"timeout": TIMEOUT, **_click(".tabs > button:nth-of-type(2)")}),
}

_MODALS = (
    "$('.modal').eq(1).modal({backdrop: false})",
    "new bootstrap.Modal(document.querySelectorAll('.modal')[1], {backdrop: false}).show()",
)
_LIBRARIES: dict[str, tuple[dict[str, Part], str, str]] = {
    "Bootstrap 4 to 5": (
        BOOTSTRAP,
        (
            "<link rel=stylesheet href=/lib/bootstrap-4/dist/css/bootstrap.min.css>"
            "<script src=/lib/jquery/dist/jquery.min.js></script>"
            f"<script src=/lib/bootstrap-4/dist/js/bootstrap.bundle.min.js></script>BODY<script>{_MODALS[0]}</script>"
        ),
        (
            "<link rel=stylesheet href=/lib/bootstrap-5/dist/css/bootstrap.min.css>"
            "<script src=/lib/bootstrap-5/dist/js/bootstrap.bundle.min.js></script>BODY"
            f"<script>if (document.querySelector('.modal')) {_MODALS[1]}</script>"
        ),
    ),
    "Shoelace beta to 2.20": (
        SHOELACE,
        (
            "<link rel=stylesheet href=/lib/shoelace-beta/dist/themes/light.css>"
            "<script type=module src=/lib/shoelace-beta/dist/shoelace.js></script>BODY"
        ),
        (
            "<link rel=stylesheet href=/lib/shoelace-2/cdn/themes/light.css>"
            "<script type=module src=/lib/shoelace-2/cdn/shoelace.js></script>BODY"
        ),
    ),
    "Vue 2 to 3": (
        VUE,
        "<script src=/lib/vue-2/dist/vue.min.js></script>BODY",
        "<script src=/lib/vue-3/dist/vue.global.prod.js></script>BODY",
    ),
}
_ALL = [(library, part) for library, (parts, _, _) in _LIBRARIES.items() for part in parts]


def case_of(seed: int, number: int) -> Case:
    """The case of a number: a part of a library, with other names; the same for the same seed.

    After the upgrade the element is in its place, elsewhere, or gone.
    """
    draw: Draw = random.Random(f"upgrade {seed} {number}")
    library, which = _ALL[number % len(_ALL)]
    parts, old, new = _LIBRARIES[library]
    part = parts[which]
    names = words(draw, draw.randrange(3, 6))
    way = draw.choice(["same", "same", "moved", "gone"])
    meant = names[part.place]
    later = list(names)
    if way == "gone":
        later.remove(meant)
    elif way == "moved" and which != "modal":
        later.insert(0, word(draw))
    note = NOTE.replace("SENDS", draw.choice(["true", "false"]))
    title = f"<h2>{word(draw)}</h2>"
    return Case(
        library,
        note + old.replace("BODY", title + part.before(names)),
        note + new.replace("BODY", title + part.after(later)),
        dict(part.step),
        None if way == "gone" else meant,
    )
