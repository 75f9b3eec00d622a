"""A step acts on the element that it means, or stops: pages whose own listener notes which element got which event.

The healer cannot see the notes: `data-k` is no attribute that it reads. All good runs are steps of one recording, and
the changed pages are visited in one later session.
"""

from __future__ import annotations

import ast
import asyncio
import sys
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import pytest

from reenact import Client
from reenact.browser.actions import aim, handlers

NOTE = """<script>window.seen = [];
for (const kind of ["click", "input"]) document.addEventListener(kind, (event) => {
  const at = event.composedPath().find((one) => one.dataset?.k);
  if (event.isTrusted) seen.push(kind + " " + (at ? at.dataset.k : "beside"));
  document.title += "."; }, true);</script>"""


def rows(*numbers, word="Permit", verb="Void", lost=()):
    items = "".join(
        f"<li><b>{word} {n}</b> <i>lot {n % 3}</i>"
        + (f" <button type=button data-k={n}>{verb}</button>" if n not in lost else "")
        + "</li>"
        for n in numbers
    )
    return f"<h2>{word}s</h2><ul>{items}</ul>"


def crew(*names, at="crew"):
    cards = "".join(
        f"<div class=hand><span>{n}</span><span>{n.lower()}@dock.example</span>"
        f"<button type=button data-k={n}>Expel</button></div>"
        for n in names
    )
    return f"<section id={at}>{cards}</section>"


PICTURES = {"copy": "M1 1h8v8z", "trash": "M2 2l6 6", "pin": "M4 0v9"}


def tools(*names, at="tools"):
    drawn = "".join(
        f"<button type=button data-k={n} style='width:40px;height:40px'><svg width=16 height=16>"
        f"<path d='{PICTURES[n]}' stroke=black /></svg></button>"
        for n in names
    )
    return f"<p>Sheet</p><div id={at}>{drawn}</div>"


def knobs(*names, at="knobs"):
    made = "".join(f"<x-knob data-k={n}>{n}</x-knob>" for n in names)
    return f"""<div id={at}>{made}</div><script>customElements.define("x-knob", class extends HTMLElement {{
      connectedCallback() {{ this.attachShadow({{mode: "open"}}).innerHTML = "<button type=button><slot></slot></button>" }} }})
    </script>"""


def goods(*kinds):
    return (
        "<h2>Goods</h2><table>"
        + "".join(
            f"<tr><td>{name}<td>{price}<td>{day}<td>in stock<td><button type=button data-k='{name} {price} {day}'>Scrap</button>"
            for name, price, day in kinds
        )
        + "</table>"
    )


OAR = ("Oar", "9 EUR", "3 June")
LAMPS = (("Lamp", "40 EUR", "1 June"), ("Lamp", "60 EUR", "2 June"), ("Crate", "40 EUR", "2 June"))


@dataclass(frozen=True)
class Case:
    """A step with its good page and its changed one; `seen` is what may happen there, `good` if it succeeds."""

    name: str
    before: str
    after: str
    step: dict[str, Any]
    seen: list[str] = field(default_factory=list)
    good: bool = False
    said: str = ""


def click(selector, **more):
    return {"type": "click", "selector": selector, "timeout": 4000, **more}


def fill(selector):
    return {"type": "fill", "selector": selector, "value": "a@b.example", "timeout": 4000}


def seats(*names):
    """Records without boxes of their own."""
    cells = "".join(
        f"<span>{n}</span><span>Deck</span><button type=button data-k={n}>Vacate</button>" for n in names
    )
    return f"<h2>Seats</h2><div id=seats>{cells}</div>"


def lines(*names, at="lines"):
    """Records that show no text: their key is the value of a field."""
    made = "".join(
        f"<div class=line><input value={n}><button type=button data-k={n}>x</button></div>" for n in names
    )
    return f"<h2>Cargo</h2><div id={at}>{made}</div>"


def faces(*names):
    """Records that show no text: their key is a picture's alternative text."""
    made = "".join(f"<li><img alt={n}><button type=button data-k={n}>Dismiss</button></li>" for n in names)
    return f"<h2>Hands</h2><ul id=faces>{made}</ul>"


def leads(*names):
    """Records whose texts are equal: their key is where a link leads."""
    made = "".join(
        f"<li><a href=/m/{n}>open</a><button type=button data-k={n}>Scrap</button></li>" for n in names
    )
    return f"<h2>Manifests</h2><ul id=leads>{made}</ul>"


def plans(*names):
    """Sections with headings and without boxes."""
    made = "".join(
        f"<h3>{n}</h3><p>per year</p><button type=button class=buy data-k={n}>Hire</button>" for n in names
    )
    return f"<main>{made}</main>"


def entries(*names):
    """Forms beside one another with fields of the same labels."""
    return "".join(
        f"<form class=f{n}><h2>{n}</h2><label>Mail <input type=email name=m data-k={n}></label></form>"
        for n in names
    )


def rights(rows, columns):
    """Boxes to tick, which only row and column tell apart."""
    head = "".join(f"<th>{c}</th>" for c in columns)
    body = "".join(
        f"<tr><td>{r}</td>"
        + "".join(f"<td><input type=checkbox id=p{i}{j} data-k={r}{c}></td>" for j, c in enumerate(columns))
        + "</tr>"
        for i, r in enumerate(rows)
    )
    return f"<table><thead><tr><th>Post</th>{head}</tr></thead><tbody>{body}</tbody></table>"


def logs(*entries):
    """Records within records of their kind."""

    def one(entry):
        name, *inner = entry if isinstance(entry, tuple) else (entry,)
        button = "" if name.islower() else f"<button type=button data-k={name}>Answer</button>"
        return f"<div class=log><b>{name}</b><p>seen</p>{button}{''.join(map(one, inner))}</div>"

    return f"<main id=logs>{''.join(map(one, entries))}</main>"


def crews(*ships):
    """Records of the same names within records: a ship's hands."""
    made = "".join(
        f"<div class=ship><h3>{ship}</h3><ul>"
        + "".join(f"<li>{n}<button type=button data-k='{ship} {n}'>Remove</button></li>" for n in hands)
        + "</ul></div>"
        for ship, hands in ships
    )
    return f"<main>{made}</main>"


def watches(*parts):
    """Rows of a table, parted by rows that only say what follows."""
    made = "".join(
        f"<tr class=w><th colspan=2>{part}</th></tr>"
        + "".join(
            f"<tr><td>{n}<td><button type=button data-k='{part} {n}'>Relieve</button></tr>" for n in hands
        )
        for part, hands in parts
    )
    return f"<table id=watches><tbody>{made}</tbody></table>"


def bars(*names):
    """Regions that nothing but their labels tells apart."""
    made = "".join(
        f"<div role=toolbar aria-label={n}><button type=button class=save data-k={n}>Save</button></div>"
        for n in names
    )
    return f"<div id=bars>{made}</div>"


def talk(*said):
    """Records of which each text is another one's, too."""
    made = "".join(
        f"<div class=say><b>{who}</b><p>{text}</p><button type=button data-k={k}>Unsay</button></div>"
        for who, text, k in said
    )
    return f"<div id=talk>{made}</div>"


def framed(*names):
    """Frames with fields of the same label."""
    return "".join(
        f'<iframe name=f{place} srcdoc="<h4>{n}</h4><label>Tons '
        f"<input oninput='top.seen.push(`input {n}`)'></label>\"></iframe>"
        for place, n in enumerate(names)
    )


def terms(*pairs):
    made = "".join(f"<dt>{n}<dd>{text} <button type=button data-k={n}>Amend</button>" for n, text in pairs)
    return f"<dl id=terms>{made}</dl>"


def tale(*ends):
    start = "The cargo that was taken aboard at the northern quay in the second week of the long winter, "
    made = "".join(f"<li><p>{start}{n}</p><button type=button data-k={n}>Strike</button></li>" for n in ends)
    return f"<ul id=tale>{made}</ul>"


def ledger(*names):
    """Rows with more texts than are looked at."""
    made = "".join(
        f"<tr><td>{n}"
        + "".join(f"<td>{i % 5}" for i in range(30))
        + f"<td><button type=button data-k={n}>Strike</button>"
        for n in names
    )
    return f"<table id=ledger><tbody>{made}</table>"


def drawers(*rows):
    """Records whose buttons have pictures alone."""
    made = "".join(
        f"<li>{row}"
        + "".join(
            f"<button type=button data-k='{n} {row}' style='width:40px;height:40px'><svg width=16 height=16>"
            f"<path d='{PICTURES[n]}' stroke=black /></svg></button>"
            for n in names
        )
        + "</li>"
        for row, *names in rows
    )
    return f"<h2>Drawers</h2><ul id=drawers>{made}</ul>"


def month(name):
    days = "".join(
        f"<td><button type=button class=day data-k='{name} {d}'>{d}</button></td>" for d in range(8, 15)
    )
    return f"<div class=cal><div><span>{name}</span></div><table><tbody><tr>{days}</tr></tbody></table></div>"


def asked(title, text, yes, k):
    """A dialog without a role, over a page that it covers."""
    return (
        "<h1>Fleet</h1><div style='position:fixed;inset:0;background:#0006'></div>"
        "<div style='position:fixed;left:20%;top:20%;width:300px;background:#fff'>"
        f"<div>{title}</div><p>{text}</p><button type=button id=yes9 data-k={k}>{yes}</button></div>"
    )


def berth(name, k):
    """A page about one record, without a list."""
    return f"<h1>{name}</h1><p>2 anchors</p><button type=button id=scuttle data-k={k}>Delete berth</button>"


def chosen(*values):
    """Buttons that only an attribute tells apart."""
    made = "".join(f"<button type=button value={n} data-k={n}>Take</button>" for n in values)
    return f"<h2>Ropes</h2><div id=ropes>{made}</div>"


def chips(*names):
    made = "".join(f"<span class=chip>{n}<button type=button data-k={n}>×</button></span>" for n in names)
    return f"<p>Flags</p><div id=chips>{made}</div>"


def tabs(front, other, mark):
    """Two tabs, of which the first is open."""
    made = "".join(
        f"<button type=button role=tab id={mark}{n} aria-selected={str(n == front).lower()} data-k={n} "
        "onclick=\"document.querySelectorAll('[role=tab]').forEach(t => t.ariaSelected = t === this)\">"
        f"{n}</button>"
        for n in sorted((front, other))
    )
    return f"<h2>Ship</h2><div role=tablist>{made}</div>"


def crumb(name, k):
    return (
        f"<nav><ol><li>Drive<li aria-current=page>{name}</ol></nav><p>3 files</p>"
        f"<button type=button id=purge data-k={k}>Delete folder</button>"
    )


def posts(*ids):
    made = "".join(f"<li>Draft <a href='/edit?id={n}' role=button data-k=p{n}>Edit</a></li>" for n in ids)
    return f"<h2>Posts</h2><ul id=posts>{made}</ul>"


def choices(*names):
    made = "".join(
        f"<label><input type=radio name=rig value=v{i} data-k={n}><b>{n}</b></label>"
        for i, n in enumerate(names)
    )
    return f"<h2>Rig</h2>{made}"


def hours(day):
    made = "".join(
        f"<button type=button class=hour data-k='{day} {h}'>{h}</button>" for h in ("7:30", "8:00")
    )
    return f"<h2>{day}</h2><div>{made}</div>"


def snack(text, k):
    return f"<h1>Log</h1><div role=status class=snack><span>{text}</span><button type=button data-k={k}>Undo</button></div>"


def pots(*colours):
    made = "".join(
        f"<button type=button data-k={n} style='background:{n};width:30px;height:30px'></button>"
        for n in colours
    )
    return f"<h2>Paint</h2><div id=pots>{made}</div>"


def signals(*names):
    made = "".join(
        f"<p><span id=s{i}>{n}</span><button type=button role=switch aria-checked=false aria-labelledby=s{i} id=sw{i} "
        f"data-k={n.split()[0]}>○</button></p>"
        for i, n in enumerate(names)
    )
    return f"<h2>Signals</h2>{made}"


def shifts(*names):
    """A name that reaches over two rows."""
    made = "".join(
        f"<tr><td rowspan=2>{n}<td>early<td><button type=button data-k='{n} early'>Swap</button>"
        f"<tr><td>late<td><button type=button data-k='{n} late'>Swap</button>"
        for n in names
    )
    return f"<h2>Shifts</h2><table id=shifts><tbody>{made}</table>"


def pumps(*names, named="label"):
    made = "".join(f"<x-pump {named}={n} data-k={n}></x-pump>" for n in names)
    return f"""<h2>Pumps</h2><div id=pumps>{made}</div><script>customElements.define("x-pump", class extends HTMLElement {{
      connectedCallback() {{ this.attachShadow({{mode: "closed"}}).innerHTML = `<button type=button>${{this.dataset.k}}</button>` }} }})
    </script>"""


def masks(*names):
    drawn = "".join(
        f".m{n} {{ display: inline-block; width: 20px; height: 20px; background: black;"
        f"mask-image: url('data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22><path d=%22{n}%22/></svg>') }}"
        for n in "abc"
    )
    made = "".join(f"<button type=button data-k={n}><span class=m{n}></span></button>" for n in names)
    return f"<style>{drawn}</style><p>Wash</p><div id=masks>{made}</div>"


def passes(*keys):
    return "<h2>Passes</h2>" + "".join(
        f"<form class=pass onsubmit='return false'><b>pass</b> <i>valid</i><input type=hidden name=no value={n}>"
        f"<button data-k={n}>Stamp</button></form>"
        for n in keys
    )


def days(month):
    made = "".join(
        f"<div role=gridcell tabindex=0 class=cell data-k='{month} {d}'>{d}</div>" for d in range(10, 14)
    )
    return f"<div><h4>{month}</h4><div role=grid><div role=row>{made}</div></div></div>"


def doing(tree):
    return (
        f"<dialog open aria-label='Fell tree'><p>The {tree} falls.</p>"
        f"<button type=button id=do9 data-k={tree}>Do it</button></dialog>"
    )


def strip(*names):
    return f"<div role=tablist>{''.join(f'<button type=button role=tab data-k={n}>{n}</button>' for n in names)}</div>"


def crewed(*names):
    """Fields with a label behind each, as components draw them."""
    return "<h2>Crew</h2>" + "".join(
        f"<div class=of><label for=crew{i}>{n}</label><div><input id=crew{i} data-k={n}><fieldset><legend>{n}</legend></fieldset>"
        "</div></div>"
        for i, n in enumerate(names)
    )


def shares(*parts, top="<h1>Estate</h1>"):
    """Parts of a page that are built differently, each with its own heading and texts."""
    return top + "".join(
        f"<div><h3>{name}</h3><p>for {name}</p>{inner}</div>"
        for name, *rest in parts
        for inner in [*rest, ""][:1]
    )


def sailors(*names, role=""):
    """Records that are pressed as a whole."""
    made = "".join(
        f"<div class=sailor {role} data-k={n} onclick='0'><div>{n}</div><div>{n.lower()}@dock.example</div></div>"
        for n in names
    )
    return f"<h2>Watch</h2><div>{made}</div>"


def stamps(*names):
    """Elements that show a picture as their content."""
    drawn = "data:image/svg+xml,%3Csvg%20xmlns=%22http://www.w3.org/2000/svg%22%20id=%22{}%22/%3E"
    look = "content:url({});width:20px;height:20px;display:inline-block"
    made = "".join(
        f"<span data-k={n} onclick='0' style='{look.format(drawn.format(n))}'></span>" for n in names
    )
    return f"<h2>Marks</h2><div id=stamps>{made}</div>"


def lots(group, *values):
    """Choices that only a value tells apart."""
    made = "".join(f"<input type=radio name={group} value={one} data-k={one}>" for one in values)
    return f"<p>Draw</p><div id=lots>{made}</div>"


def menu(name, role="menu", item="menuitem"):
    return f"<div role={role} aria-label='{name}'><div role={item} tabindex=0 class=of-menu data-k='{name}'>Scuttle</div></div>"


def halves(*names):
    """Records of two rows: the one says, the other acts."""
    made = "".join(
        f"<tr><td>{n}</td></tr><tr><td><button type=button data-k={n}>Maroon</button></td></tr>"
        for n in names
    )
    return f"<h2>Mutiny</h2><table id=halves>{made}</table>"


def keep(id, key):
    return f"<button type=button id={id} data-k={key}>Keep</button>"


QUICK = [
    Case("the record has lost its button", rows(17, 18, 19), rows(17, 18, 19, lost=(18,)),
         click("li:has-text('Permit 18') >> text=Void"), said="No element matches"),
    Case("the record is gone from its place", crew("Ada", "Bob", "Cyd"), crew("Ada", "Cyd"),
         click("#crew > div:nth-child(2) button"), said='of the record "bob@dock.example"'),
    Case("the record has moved", crew("Ada", "Bob", "Cyd", at="c2"), crew("Zoe", "Ada", "Bob", "Cyd", at="c2"),
         click("#c2 > div:nth-child(2) button"), ["click Bob"], good=True),
    Case("an icon slides to the place of another", tools("pin", "copy", "trash"), tools("pin", "trash"),
         click("#tools button:nth-child(2)"), said="picture differs"),
    Case("an id is reused", "<button type=button id=settle data-k=now>Pay now</button>",
         "<button type=button id=settle data-k=later>Pay later</button>", click("#settle"), said="name differs"),
    Case("a field with a longer label stands beside", "<label>Email <input id=mail data-k=mail></label>",
         "<label>User <input id=u7 data-k=user></label><label>Recovery email <input id=r7 data-k=recovery></label>",
         fill("#mail")),
    Case("the id of a field is given to another", "<label>Street <input id=f1 data-k=street></label>",
         "<label>Harbour <input id=f1 data-k=harbour></label>", fill("#f1"), said="name differs"),
    Case("two fields exchange their ids", "<label>Mooring <input id=f7 data-k=mooring></label>",
         "<label>Tonnage <input id=f7 data-k=tonnage></label><label>Mooring <input id=f8 data-k=mooring></label>",
         fill("#f7"), ["input mooring"], good=True),
    Case("a field with a telling id has a new label", "<label>Email <input id=email data-k=email></label>",
         "<label>How we reach you <input id=email data-k=email></label>", fill("#email"), ["input email"], good=True),
    Case("a record without a box is gone", seats("Mara", "Nils", "Olga"), seats("Mara", "Olga"),
         click("#seats > button:nth-of-type(2)"), said='the record "Nils"'),
    Case("a record within the meant one has its button left", logs("Ann", ("Ben", "Cy"), "Dot"),
         logs("Ann", ("ben", "Cy"), "Dot"), click("#logs > .log:nth-of-type(2) button >> nth=0"), said='the record "Ben"'),
    Case("two forms exchange their places", entries("Enter", "Enlist"), entries("Enlist", "Enter"),
         fill("form:nth-of-type(2) input"), ["input Enlist"], good=True),
    Case("a price has another currency", "<button type=button id=fare data-k=d>Pay $10</button>",
         "<button type=button id=fare data-k=e>Pay €10</button>", click("#fare"), said="name differs"),
    Case("a record within another record of its name is gone", crews(("Gull", ["Ann", "Ben"]), ("Tern", ["Ann"]), ("Skua", ["Ann"])),
         crews(("Gull", ["Ann", "Ben"]), ("Skua", ["Ann"])), click(".ship:nth-of-type(2) li:nth-child(1) button"),
         said='under "Tern"'),
    Case("a unit is another one", "<label>Cargo in kg <input id=cargo data-k=kg></label>",
         "<label>Cargo in lb <input id=cargo data-k=lb></label>", fill("#cargo"), said="name differs"),
    Case("a column is gone", rights(["Mate", "Cook"], ["Read", "Write", "Rule"]), rights(["Mate", "Cook"], ["Read", "Rule"]),
         {"type": "check", "selector": "#p11", "value": True, "timeout": 4000}, said="Write"),
    Case("a dialog without a role asks about another thing", asked("Sink boat 4?", "It has no crew.", "Yes", "y4"),
         asked("Sink boat 5?", "It has no crew.", "Yes", "y5"), click("#yes9"), said="dialog differs"),
    Case("the page is another record's", berth("Berth Nora", "nora"), berth("Berth Olav", "olav"), click("#scuttle"),
         said="heading differs"),
    Case("a button that only an attribute tells apart is gone", chosen("r7", "r8", "r9"), chosen("r7", "r9"),
         click("#ropes button:nth-child(2)"), said='"value r8"'),
    Case("a row that a cell of the row before it reaches into is gone", shifts("Imke", "Jonas", "Klara"), shifts("Imke", "Klara"),
         click("#shifts tr:nth-child(4) button"), said='of the record "Jonas, late"'),
    Case("a component with a closed shadow root slides to the place of another", pumps("Vent", "Drain"), pumps("Drain"),
         click("#pumps x-pump:nth-child(1)"), said='means generic "Vent"'),
    Case("a picture that is drawn by a mask slides", masks("a", "b", "c"), masks("a", "c"),
         click("#masks button:nth-child(2)"), said="picture differs"),
    Case("a form that only a hidden value tells from the others is gone", passes("a1", "b2", "c3"), passes("a1", "c3"),
         click("form.pass:nth-of-type(2) button"), said="record differs"),
    Case("the part of its name is gone, and another part has its id", shares(("Heirs", keep("kp1", "heirs")), ("Debts",)),
         shares(("Heirs",), ("Debts", keep("kp1", "debts"))), click("#kp1"), said="section differs"),
    Case("the button of its part is gone, and another part has one", shares(("Heirs", keep("kp2", "heirs")), ("Debts",)),
         shares(("Heirs",), ("Debts", keep("kp22", "debts"))), click("#kp2"), said="No element matches"),
    Case("the only field of its form is worded otherwise", "<h2>Log</h2><form><input id=rw1 data-k=log placeholder='Which port needs a pilot?'></form>",
         "<h2>Log</h2><form><input id=rw1 data-k=log placeholder='Which port has a pilot?'></form>", fill("#rw1"), ["input log"], good=True),
    Case("a field that is worded otherwise has another beside it", "<h2>Log</h2><form><input id=rw2 data-k=log placeholder='Which port needs a pilot?'></form>",
         "<h2>Log</h2><form><input id=rw2 data-k=log placeholder='Which port has a pilot?'><input data-k=tug placeholder=Tug></form>",
         fill("#rw2"), said="name differs"),
    Case("the only field of its form says another direction", "<h2>Log</h2><form><input id=rw3 data-k=to placeholder='Is the port sailed to'></form>",
         "<h2>Log</h2><form><input id=rw3 data-k=from placeholder='The port sailed from'></form>", fill("#rw3"), said="name differs"),
    Case("a telling id has another verb", "<p>Winch</p><button type=button id=hoist data-k=up>Hoist</button>",
         "<p>Winch</p><button type=button id=hoist data-k=down>Lower</button>", click("#hoist"), said="name differs"),
    Case("a menu is that of another thing", menu("Sloop Ada"), menu("Sloop Bella"), click(".of-menu"), said="section differs"),
    Case("an option is that of another list", menu("Ship to", "listbox", "option"), menu("Bill to", "listbox", "option"),
         click("[role=listbox] .of-menu"), said="section differs"),
    Case("a toolbar is that of another part", menu("Draft", "toolbar", "button"), menu("Charter", "toolbar", "button"),
         click("[role=toolbar] .of-menu"), said="section differs"),
    Case("records of two rows exchange their places", halves("Ann", "Ben"), halves("Ben", "Ann"),
         click("#halves button >> nth=0"), ["click Ann"], good=True),
    Case("a record of two rows is gone", halves("Cem", "Dot"), halves("Dot"),
         click("#halves tr:nth-child(2) button"), said="record differs"),
]  # fmt: skip

THOROUGH = [
    Case("a row that a cell of the row before it reaches into has moved", shifts("Imke", "Jonas", "Klara"),
         shifts("Anouk", "Imke", "Jonas", "Klara"), click("#shifts tr:nth-of-type(4) button"), ["click Jonas late"], good=True),
    Case("a step of a wizard is another one", shares(("Heirs", keep("kp3", "heirs")), top=""), shares(("Debts", keep("kp3", "debts")), top=""),
         click("#kp3"), said="section differs"),
    Case("a part of a page gets a heading more", shares(("Heirs", keep("kp4", "heirs"))),
         shares(("Heirs", "<h4>Names</h4>" + keep("kp4", "heirs"))), click("#kp4"), ["click heirs"], good=True),
    Case("a part of a page loses its heading", shares(("Heirs", keep("kp5", "heirs"))), "<h1>Estate</h1>" + keep("kp5", "heirs"),
         click("#kp5"), ["click heirs"], good=True),
    Case("the page of another thing has the same harmless button", "<h1>Oar</h1><p>new</p>" + keep("kp6", "oar"),
         "<h1>Sail</h1><p>new</p>" + keep("kp6", "sail"), click("#kp6"), ["click sail"], good=True),
    Case("a field of another part has its id", shares(("Heirs", "<label>Town <input id=kp7 data-k=heirs></label>"), ("Debts",)),
         shares(("Heirs",), ("Debts", "<label>Town <input id=kp7 data-k=debts></label>")), fill("#kp7"), said="section differs"),
    Case("the only field is worded otherwise without its id", "<h2>Log</h2><input id=rw4 data-k=log aria-label='What cargo needs to be shipped'>",
         "<h2>Log</h2><p><input data-k=log aria-label='What cargo is to be shipped'></p>", fill("#rw4"), ["input log"], good=True),
    Case("the only field is worded otherwise under another heading", "<h2>Log</h2><input id=rw5 data-k=log aria-label='What needs paint'>",
         "<h2>Bill</h2><input data-k=bill aria-label='What has paint'>", fill("#rw5"), said="No element matches"),
    Case("the only field of its form is another kind", "<h2>Log</h2><input id=rw6 data-k=log aria-label='What needs paint'>",
         "<h2>Log</h2><input type=password data-k=key aria-label='What has paint'>", fill("#rw6"), said="No element matches"),
    Case("the only field has one word less that tells", "<h2>Log</h2><input id=rw7 data-k=log aria-label='What needs to be done'>",
         "<h2>Log</h2><input id=rw7 data-k=other aria-label='What is done'>", fill("#rw7"), said="name differs"),
    Case("a button is worded otherwise", "<h2>Log</h2><button type=button id=rw8 data-k=a>What needs paint</button>",
         "<h2>Log</h2><button type=button id=rw8 data-k=b>What has paint</button>", click("#rw8"), said="name differs"),
    Case("a record that is pressed as a whole is a button by now", sailors("Imke", "Jonas"), sailors("Klara", "Imke", "Jonas", role="role=button tabindex=0"),
         click(".sailor:has-text('Jonas')"), ["click Jonas"], good=True),
    Case("another record has become a button in its place", sailors("Imke", "Jonas"), sailors("Imke", "Klara", role="role=button tabindex=0"),
         click(".sailor >> nth=1"), said="record"),
    Case("a component with a closed shadow root has moved", pumps("Vent", "Drain"), pumps("Prime", "Vent", "Drain"),
         click("#pumps > x-pump:nth-child(1)"), ["click Vent"], good=True),
    Case("a component with a closed shadow root is told by its attributes", pumps("Vent", named="key"), pumps("Drain", named="key"),
         click("#pumps x-pump"), said="picture differs"),
    Case("a cell of a grid is a day of another month", days("May 2026"), days("June 2026"), click(".cell:nth-child(2)"),
         said="May 2026"),
    Case("a label stays, and the text under it is grave", "<p>Log</p><button type=button id=seen7 aria-label='Mark read' data-k=a>✓</button>",
         "<p>Log</p><button type=button id=seen7 aria-label='Mark read' data-k=b>Delete</button>", click("#seen7"),
         said="grave word differs"),
    Case("a grave name has a synonym", "<p>Note</p><button type=button id=sub7 data-k=a>Submit</button>",
         "<p>Note</p><button type=button id=sub7 data-k=a>Send</button>", click("#sub7"), ["click a"], good=True),
    Case("a sign has another title", "<p>Log</p><button type=button id=back7 title='Undo' data-k=a>↺</button>",
         "<p>Log</p><button type=button id=back7 title='Undo all' data-k=b>↺</button>", click("#back7"), said="title differs"),
    Case("a dialog that asks to do it asks about another thing", doing("oak"), doing("ash"), click("#do9"),
         said="question differs"),
    Case("a tab that leads to nothing has moved", strip("Bow", "Mast", "Stern"), strip("Mast", "Stern", "Bow"),
         click("[role=tablist] > button:nth-child(2)"), ["click Mast"], good=True),
    Case("fields with numbered ids exchange their places", crewed("Captain", "Mate"), crewed("Mate", "Captain"),
         fill("#crew1"), ["input Mate"], good=True),
    Case("a dialog tells of another thing", "<dialog open><h2>Are you sure?</h2><p>Boat 6 is scrapped.</p>"
         "<button type=button id=sure data-k=six>Yes</button></dialog>", "<dialog open><h2>Are you sure?</h2>"
         "<p>Boat 7 is scrapped.</p><button type=button id=sure data-k=seven>Yes</button></dialog>", click("#sure"),
         said="question differs"),
    Case("the page of a record is built anew", berth("Berth Pia", "pia").replace("scuttle", "sc2"),
         "<main><header><h2>Berth Pia</h2></header><p>2 anchors</p><div><button type=button id=n5 data-k=pia>"
         "Delete berth</button></div></main>", click("#sc2"), ["click pia"], good=True),
    Case("a button that only an attribute tells apart has moved", chosen("q7", "q8", "q9").replace("ropes", "rope2"),
         chosen("q8", "q7", "q9").replace("ropes", "rope2"), click("#rope2 button:nth-child(2)"), ["click q8"], good=True),
    Case("a chip is gone, and one that begins alike is left", chips("red", "red2", "blue"), chips("red2", "blue"),
         click(".chip:nth-child(1) button"), said='the record "red"'),
    Case("an hour of another day", hours("Fri 16 May"), hours("Mon 19 May"), click(".hour:nth-child(1)"),
         said="Fri 16 May"),
    Case("an undoing of another thing", snack("Sail stowed", "u1"), snack("Mate dismissed", "u2"), click(".snack button"),
         said="question differs"),
    Case("a picture that is an element's content slides", stamps("a", "b", "c"), stamps("a", "c"),
         click("#stamps span:nth-child(2)"), said="picture differs"),
    Case("a picture that is an element's content has moved", stamps("d", "e", "f"), stamps("e", "d", "f"),
         click("#stamps span:nth-child(1)"), ["click d"], good=True),
    Case("a choice without a name is gone, and the next one slides to its place", lots("g1", 1, 2, 3), lots("g1", 1, 3),
         {"type": "check", "selector": "#lots input >> nth=1", "value": True, "timeout": 4000}, said="choice differs"),
    Case("a choice without a name has moved", lots("g2", 1, 2), lots("g2", 4, 1, 2),
         {"type": "check", "selector": "#lots input >> nth=0", "value": True, "timeout": 4000}, ["click 1", "input 1"], good=True),
    Case("a box without a name has another colour", pots("red", "teal"), pots("red", "olive"),
         click("#pots button:nth-child(2)"), said="picture differs"),
    Case("switches that show the same sign exchange their ids", signals("Horn", "Lamp", "Bell"),
         signals("Gong", "Horn", "Lamp (loud)"), click("#sw1"), said="name differs"),
    Case("the page of a folder is another one's, without headings", crumb("Charts", "charts"), crumb("Songs", "songs"),
         click("#purge"), said="heading differs"),
    Case("a link of two records with the same texts is gone", posts("4", "5"), posts("5"), click("#posts li:nth-child(1) a"),
         said="record differs"),
    Case("a choice has another value", choices("Sloop", "Brig"), choices("Brig", "Sloop"),
         {"type": "check", "selector": "input[value=v0]", "value": True, "timeout": 4000},
         ["click Sloop", "input Sloop"], good=True),
    Case("a tab is open already", tabs("Deck", "Hull", mark="t1"), tabs("Hull", "Deck", mark="t2"), click("#t1Hull"),
         ["click Hull"], good=True),
    Case("an opposite word begins with other letters", "<button type=button id=am7 data-k=on>Activar</button>",
         "<button type=button id=am7 data-k=off>Desactivar</button>", click("#am7"), said="name differs"),
    Case("a record without a box has moved", seats("Mara", "Nils", "Olga"), seats("Zoe", "Mara", "Nils", "Olga"),
         click("#seats > button:nth-of-type(2)"), ["click Nils"], good=True),
    Case("the record of a field's value is gone", lines("Rope", "Tar", "Salt"), lines("Rope", "Salt"),
         click(".line:nth-child(2) button"), said="value Tar"),
    Case("the record of a picture is gone", faces("lea", "tom", "uma"), faces("lea", "uma"),
         click("#faces li:nth-child(2) button"), said="picture tom"),
    Case("the record of a link has moved", leads("k1", "k2", "k3"), leads("k0", "k1", "k2", "k3"),
         click("#leads li:nth-child(2) button"), ["click k2"], good=True),
    Case("a section without a box is gone", plans("Sloop", "Brig", "Bark"), plans("Sloop", "Bark"),
         click("button.buy >> nth=1"), said='the record "Brig"'),
    Case("a form is gone", entries("Enter", "Enlist"), entries("Enter", "Gazette"), fill("form:nth-of-type(2) input"),
         said='the record "Enlist"'),
    Case("a column comes before", rights(["Mate", "Cook"], ["Read", "Write"]),
         rights(["Mate", "Cook"], ["Read", "List", "Write"]),
         {"type": "check", "selector": "#p11", "value": True, "timeout": 4000}, ["click CookWrite", "input CookWrite"], good=True),
    Case("a record has moved into another one", logs("Ann", ("Ben", "Cy"), "Dot"), logs(("Ann", "Ben"), "Dot"),
         click("#logs > .log:nth-of-type(2) button >> nth=0"), ["click Ben"], good=True),
    Case("a heading before the footer changes", "<nav><a href=#c1 data-k=top>Crew</a></nav><main><h2>Storm</h2></main>"
         "<footer><a id=crew7 href=#c2 data-k=crew>Crew</a></footer>",
         "<nav><a href=#c1 data-k=top>Crew</a></nav><main><h2>Calm</h2></main>"
         "<footer><a id=crew7 href=#c2 data-k=crew>Crew</a></footer>", click("#crew7"), ["click crew"], good=True),
    Case("a section of a form has moved", "<main><h2>Bow</h2><p><button type=button data-k=bow>Paint</button></p><h2>Stern</h2>"
         "<p><button type=button data-k=stern>Paint</button></p></main>",
         "<main><h2>Stern</h2><p><button type=button data-k=stern>Paint</button></p><h2>Bow</h2>"
         "<p><button type=button data-k=bow>Paint</button></p></main>",
         click("main button >> nth=1"), ["click stern"], good=True),
    Case("a day of another month", month("March 2026"), month("April 2026"), click(".day >> text='14'"),
         said="March 2026"),
    Case("a telling id is given to a field with more words", "<label>Phone <input id=phone data-k=phone></label>",
         "<label>Emergency phone <input id=phone data-k=other></label>", fill("#phone"), said="name differs"),
    Case("another field of the same form has the label of the first",
         "<form><label>Password <input type=password id=p1 data-k=login></label><h2>Log in</h2></form>",
         "<form><label>New password <input type=password id=p1 data-k=new></label><h2>Register</h2></form>",
         fill("#p1"), said="name differs"),
    Case("another name is spelled alike", "<p>Pier</p><button type=button id=n1 data-k=a>Stevoup</button>",
         "<p>Pier</p><button type=button id=n2 data-k=b>Stevouot</button>", click("~Stevoup"), said="No element matches"),
    Case("the id is given to another element in a frame",
         "<iframe width=300 srcdoc='<p>Pier</p><button type=button id=f3>Lokleb</button>'></iframe>",
         "<iframe width=300 srcdoc='<p>Pier</p><button type=button id=f3>Pliklog</button>'></iframe>",
         click("#f3"), said="name differs"),
    Case("another record begins with the same text", rows(17, 18), rows(17, 180),
         click("li:has-text('Permit 18') >> button"), said="record differs"),
    Case("a longer name is clicked by a text", "<p>Till</p><button type=button data-k=one>Confirm transfer</button>",
         "<p>Till</p><button type=button data-k=all>Confirm transfer to all</button>", click("~Confirm transfer"),
         said="name differs"),
    Case("only the decoy is there yet", "<p>Me</p><a href=# id=bye data-k=bye>Sign out</a>",
         "<p>Me</p><a href=# id=bye9 data-k=all>Sign out everywhere</a>", click("#bye")),
    Case("a slotted name changes in its place", knobs("Keep", "Send"), knobs("Keep", "Drop"),
         click("#knobs x-knob:nth-child(2)"), said='means generic "Send"'),
    Case("an id is renamed", rows(30, 31).replace("<ul", "<ul id=a30"),
         rows(30, 31).replace("<ul", "<ul id=b99").replace("data-k=31", "data-k=31 class=z"),
         click("#a30 li:nth-child(2) button"), ["click 31"], good=True),
    Case("a download is offered under another id",
         "<a id=dl1 data-k=csv download=boats.csv href='data:text/csv,1'>List</a>",
         "<a id=x77 data-k=csv download=boats.csv href='data:text/csv,1'>List</a><a data-k=no href=/nowhere>Lists</a>",
         {"type": "download_file", "selector": "#dl1", "timeout": 4000}, ["click csv"], good=True),
    Case("a dialog asks about another thing",
         "<dialog open aria-label='Scrap boat 4?'><button type=button data-k=ok id=ok1>Yes</button></dialog>",
         "<dialog open aria-label='Scrap boat 5?'><button type=button data-k=ok id=ok1>Yes</button></dialog>",
         click("#ok1"), said="dialog differs"),
    Case("a role changes with the id", "<button type=button id=tick data-k=b>Mind</button>",
         "<input type=checkbox id=tick data-k=c aria-label=Mind>", click("#tick"), said="role differs"),
    Case("a price has other decimals", "<button type=button id=toll data-k=d>Pay 1.50</button>",
         "<button type=button id=toll data-k=e>Pay 150</button>", click("#toll"), said="name differs"),
    Case("an arrow is turned", "<button type=button id=vote data-k=u>Vote ▲</button>",
         "<button type=button id=vote data-k=d>Vote ▼</button>", click("#vote"), said="name differs"),
    Case("a synonym was the name of its neighbour",
         "<button type=button id=rm1 data-k=rm>Remove</button><button type=button id=rm2 data-k=del>Delete</button>",
         "<button type=button id=rm1 data-k=del>Delete</button>", click("#rm1"), said="name differs"),
    Case("an unlocking button has the id of the locking one", "<button type=button id=lock data-k=l>Lock</button>",
         "<button type=button id=lock data-k=u>Unlock</button>", click("#lock"), said="name differs"),
    Case("a record is left in another group alone", crews(("Gull", ["Ann", "Ben"]), ("Tern", ["Cy"]), ("Skua", ["Ann"])),
         crews(("Gull", ["Ben"]), ("Tern", ["Cy"]), ("Skua", ["Ann"])), click(".ship:nth-of-type(1) li:has-text('Ann') button")),
    Case("a part of a table is gone", watches(("Dogwatch", ["Ann", "Ben"]), ("Midwatch", ["Ann"])),
         watches(("Midwatch", ["Ann"])), click("#watches button >> nth=0"), said='under "Dogwatch"'),
    Case("the parts of a table exchange their places", watches(("Dogwatch", ["Ann", "Ben"]), ("Midwatch", ["Ann"])),
         watches(("Midwatch", ["Ann"]), ("Dogwatch", ["Ann", "Ben"])), click("#watches button >> nth=0"),
         ["click Dogwatch Ann"], good=True),
    Case("a region known by its label is gone", bars("Draft", "Pattern"), bars("Pattern"),
         click("#bars .save >> nth=0"), said="label Draft"),
    Case("a term of a list of descriptions is gone", terms(("Draught", "none"), ("Port", "Ost"), ("Flag", "none")),
         terms(("Port", "Ost"), ("Flag", "none")), click("#terms dd:nth-of-type(1) button"), said='"Draught"'),
    Case("a record known by all its texts together is gone", talk(("ann", "ay", 1), ("ben", "ay", 2), ("ann", "no", 3), ("ben", "no", 4)),
         talk(("ann", "ay", 1), ("ann", "no", 3), ("ben", "no", 4)), click(".say:nth-child(2) button"), said="record differs"),
    Case("a record known by all its texts together has moved", talk(("ann", "ay", 5), ("ben", "ay", 6), ("ann", "no", 7), ("ben", "no", 8)),
         talk(("cy", "hm", 9), ("ann", "ay", 5), ("ben", "ay", 6), ("ann", "no", 7), ("ben", "no", 8)),
         click("#talk > .say:nth-child(2) button"), ["click 6"], good=True),
    Case("two records are the same", rows(50, 51, 52), rows(50, 51, 51, 52), click("li:nth-child(2) >> text=Void"),
         said="record differs"),
    Case("a record known by its price is gone, and another one has the price", goods(*LAMPS[:2]), goods(LAMPS[2], LAMPS[1]),
         click("tr:nth-child(1) >> text=Scrap"), said="record differs"),
    Case("a record known by its price has moved", goods(*LAMPS[:2], OAR), goods(LAMPS[1], OAR, LAMPS[0]),
         click("tr:nth-child(1) >> text='Scrap'"), ["click Lamp 40 EUR 1 June"], good=True),
    Case("a record of the same name comes before it", goods(LAMPS[0], OAR), goods(*LAMPS[1::-1], OAR),
         click("table tr:nth-child(1) button"), ["click Lamp 40 EUR 1 June"], good=True),
    Case("two frames exchange their contents", framed("Ballast", "Ballast room"), framed("Ballast room", "Ballast"),
         fill("page.frame_locator('iframe[name=f0]').get_by_label('Tons')"), ["input Ballast"], good=True),
    Case("a record known by the end of a long text is gone", tale("first", "second", "third"), tale("first", "third"),
         click("#tale li:nth-child(2) button"), said="record differs"),
    Case("a record with many texts is the same", ledger("Bolt", "Nut", "Cog"), ledger("Bolt", "Nut", "Cog"),
         click("#ledger tr:nth-child(2) button"), ["click Nut"], good=True),
    Case("two pictures of a record exchange their places", drawers(("A1", "pin", "trash"), ("A2", "pin", "trash")),
         drawers(("A1", "trash", "pin"), ("A2", "trash", "pin")), click("#drawers li:nth-child(2) button >> nth=1"),
         ["click trash A2"], good=True),
    Case("a count in brackets changes", "<button type=button id=cart data-k=cart>Cart (3)</button>",
         "<button type=button id=cart data-k=cart>Cart (4)</button>", click("#cart"), ["click cart"], good=True),
    Case("a synonym is the same element", "<button type=button id=in data-k=in>Sign in</button>",
         "<button type=button id=in data-k=in>Log in</button>", click("#in"), ["click in"], good=True),
    Case("a status beside it changes", "<table><tr><td>Boat 4<td>open<td><button id=go4 data-k=4>Go</button></table>",
         "<table><tr><td>Boat 4<td>shut<td><button id=go4 data-k=4>Go</button></table>", click("#go4"),
         ["click 4"], good=True),
]  # fmt: skip
CASES = QUICK + THOROUGH
DRIFTED, ACCEPTED = CASES[1], CASES[4]
"""The cases of tests of their own."""

CRATE = ".crate:nth-child(2) button"
COVERED = """<p>Hold</p><button type=button id=hatch data-k=hatch>Open hatch</button>"""
LAYER = """<div style="position:fixed;inset:0;background:white"><p>Pay the toll?</p>
<button type=button data-k=toll>Pay</button></div>"""


@pytest.fixture(scope="module")
def later(request, open_session, chromium, site, tmp_path_factory):
    """A later session of the script, after a good run of its cases; it visits a page and does a step in a block.

    The good runs of the cases that no selected test tries are left out: each takes half a second.
    """
    home = tmp_path_factory.mktemp("right")
    selected = [
        item.callspec.params.get("case")
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    ]

    def page(html):
        return site(f"echo?html={quote(NOTE + html)}")

    with open_session(home=home, name="right", cdp_url=chromium) as session:
        for case in CASES:
            if case not in (DRIFTED, ACCEPTED) and case not in selected:
                continue
            session.execute(type="goto", url=page(case.before))
            assert session.execute(case.step).success, case.name
        session.execute(type="goto", url=page(hold(*CRATES)))
        assert session.execute(click(CRATE)).success
        session.execute(type="goto", url=page(COVERED))
        assert session.execute(click("#hatch")).success
        session.execute(type="goto", url=page(pier("Home", "Orders", "Crew")))
        assert session.execute(click("nav a:nth-child(2)")).success
        for selector in ("nav button", "nav button >> nth=0"):
            session.execute(type="goto", url=page(late(0)))
            assert session.execute(click(selector)).success
    with open_session(home=home, name="right", cdp_url=chromium) as session:

        def visit(html, step, *, block=True):
            session.core.outcomes.clear()
            session.execute(type="goto", url=page(html))
            heals = []
            if block:
                with Client().AgentFallback(session, task="do it", heal="auto") as fb:
                    result = session.execute(step)
                heals = fb.heals
                result = (
                    result
                    if result.success == fb.success
                    else result.model_copy(update={"success": fb.success})
                )
            else:
                result = session.execute(step, raise_on_failure=False)
            return result, session.execute(type="evaluate_js", code="window.seen").data, heals

        visit.session = session
        yield visit


def tried(later, case):
    result, seen, heals = later(case.after, case.step)
    assert (seen, result.success) == (case.seen, case.good), result.message
    assert case.said in result.message
    if not case.good:
        told = heals[-1].after["refused"]
        assert heals[-1].rung == "stop"
        assert {one["rung"] for one in told} >= {"wait", "alternative"}
        assert all(one["why"] for one in told)


@pytest.mark.sampled
@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_a_step_acts_on_the_meant_element_or_stops(later, case):
    tried(later, case)


@pytest.mark.thorough
@pytest.mark.parametrize("case", THOROUGH, ids=lambda case: case.name)
def test_a_step_acts_on_the_meant_element_or_stops_in_more_cases(later, case):
    tried(later, case)


def test_both_identities_are_in_the_error_before_anything_happened(later):
    case = DRIFTED
    result, seen, _ = later(case.after, case.step, block=False)
    assert seen == []
    assert not result.delivered
    assert result.why["reason"] == "drifted"
    assert "the step means button" in result.message
    assert 'now finds button "Expel" of the record "cyd@dock.example"' in result.message
    assert set(result.why["differs"]) == {"record"}


def test_the_target_that_the_error_names_accepts_the_other_element(later):
    case = ACCEPTED
    result, seen, _ = later(case.after, case.step, block=False)
    assert seen == []
    stated = ast.literal_eval(result.message.rpartition("or state it: expect_target=")[2])
    result, seen, _ = later(case.after, {**case.step, "expect_target": stated}, block=False)
    assert (result.success, seen) == (True, ["click later"]), result.message


def test_a_drift_that_is_right_is_accepted_with_a_warning(later):
    case = ACCEPTED
    result, seen, _ = later(case.after, {**case.step, "drift": "warn"}, block=False)
    assert (result.success, seen) == (True, ["click later"])
    assert "It may be the wrong element" in result.message


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("target", "seen"),
    [
        ('button "Void" of "Permit 8"', ["click 8"]),
        ({"name": "Void", "record": "Permit 9"}, []),
        ("Keep", []),
    ],
)
def test_a_target_written_by_hand_binds_a_step_without_a_memory(later, target, seen):
    step = click("ul > li:nth-child(1) > button", expect_target=target)
    result, happened, _ = later(rows(8, 9), step, block=False)
    assert (happened, result.success) == (seen, bool(seen)), result.message


def test_without_a_memory_the_words_of_a_selector_bind(later):
    page = "<p>Logs</p><button type=button data-k=x>Wipe logs of all teams</button>"
    result, seen, _ = later(page, click("~Wipe logs", timeout=600))
    assert (seen, result.success) == ([], False)
    result, seen, _ = later(page, click("~Wipe logs"), block=False)
    assert (seen, result.success) == ([], False)
    result, seen, _ = later(page, click("~Wipe logs", drift="warn"), block=False)
    assert (seen, result.success) == (["click x"], True)
    assert "may be the wrong element" in result.message


RESTLESS = """<div id=list></div><script>
const draw = () => { list.innerHTML = "<p>Bay 1</p><button type=button id=dock data-k=dock>Dock</button>" };
draw(); setInterval(draw, EVERY)</script>"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("every", [100, 15])
def test_success_means_that_the_page_saw_the_click_on_a_list_that_is_drawn_anew(later, every):
    result, seen, _ = later(RESTLESS.replace("EVERY", str(every)), click("#dock"), block=False)
    # A busy machine may find no moment between two drawings: then it says so, and the page saw nothing.
    assert seen == (["click dock"] if result.success else []), result.message


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("row", "target", "seen"),
    [
        (1, 'button "Scrap" of "Lamp, 40 EUR"', ["click Lamp 40 EUR 1 June"]),
        (2, {"name": "Scrap", "record": "Lamp, 2 June", "region": "Goods"}, ["click Lamp 60 EUR 2 June"]),
        (2, 'button "Scrap" of "Lamp, 40 EUR"', []),
        (3, 'button "Scrap" of "Lamp, 40 EUR"', []),
        (1, 'button "Scrap" of "Lamp, 4 EUR"', []),
        (1, 'button "Scrap" of "Lamp, 40"', []),
    ],
)
def test_a_target_written_by_hand_tells_two_records_of_one_name_by_another_text(later, row, target, seen):
    step = click(f"tr:nth-child({row}) button", expect_target=target)
    result, happened, _ = later(goods(*LAMPS), step, block=False)
    assert (happened, result.success) == (seen, bool(seen)), result.message
    if not seen:
        assert result.why["reason"] == "drifted"
        assert set(result.why["differs"]) == {"record"}


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("kinds", "record"),
    [
        (LAMPS, "Lamp"),
        ((LAMPS[0], *LAMPS), "Lamp, 40 EUR"),
        ((*LAMPS, *((f"Box {n}", "9 EUR", "3 June") for n in range(150)), LAMPS[1]), "Lamp, 60 EUR"),
    ],
    ids=["one text", "equal records", "a long table"],
)
def test_a_target_written_by_hand_that_two_records_meet_stops_as_ambiguous(later, kinds, record):
    row = 2 if record.endswith("60 EUR") else 1
    step = click(f"tr:nth-child({row}) button", expect_target=f'button "Scrap" of "{record}"')
    result, happened, heals = later(goods(*kinds), step)
    assert (happened, result.success) == ([], False), result.message
    assert result.why["reason"] == "ambiguous"
    assert f'states button "Scrap" of the record "{record}"; its selector finds button' in result.message
    for both in ("also", "found"):
        assert 'button "Scrap" of the record "Lamp, ' in result.why[both]
        assert result.why[both] in result.message
    assert heals[-1].rung == "stop"
    assert heals[-1].before["also"] == result.why["also"]


def test_a_target_written_by_hand_needs_the_group_where_two_have_the_record(later):
    page = "<h2>Masters</h2><ul><li>Bo<button type=button data-k=m>Expel</button><li>Al<button type=button>Expel</button></ul>"
    page += page.replace("Masters", "Guests").replace("=m", "=g")
    for record, seen in (('"Bo"', []), ('"Bo" in "Masters"', ["click m"])):
        step = click("ul >> nth=0 >> li:nth-child(1) button", expect_target=f'button "Expel" of {record}')
        result, happened, _ = later(page, step, block=False)
        assert (happened, result.success) == (seen, bool(seen)), result.message


def test_two_buttons_in_the_columns_of_one_record_are_not_ambiguous(later):
    page = "<table><tr><th>Boat<th>Bow<th>Stern<tr><td>Boat 4<td><button data-k=b>Tie</button><td><button data-k=s>Tie</button></table>"
    step = click("button >> nth=1", expect_target='button "Tie" of "Boat 4"')
    result, happened, _ = later(page, step, block=False)
    assert (happened, result.success) == (["click s"], True), result.message


SWAPPED = """<button type=button id=swap data-k=safe>Keep</button><script>
addEventListener("mousemove", () => { swap.textContent = "Scrap"; swap.dataset.k = "grave" }, {once: true})</script>"""


def test_an_element_that_changes_under_the_pointer_gets_no_click(later):
    step = click("#swap", expect_target={"name": "Keep"}, timeout=1500)
    result, seen, _ = later(SWAPPED, step, block=False)
    assert (result.success, seen) == (False, []), result.message


@pytest.mark.parametrize("case", [CASES[1], CASES[5]], ids=lambda case: case.name)
def test_a_stop_waits_less_than_a_second_once_the_page_is_quiet(later, case, monkeypatch):
    """No clock is read: the waits that the code asks for are added, from the moment that it finds the page quiet."""
    waits = {"before": 0.0, "after": 0.0}
    calm = {"quiet": False}
    look, sleep = aim.QuietPage.quiet, asyncio.sleep

    async def quiet(self):
        calm["quiet"] = await look(self) or calm["quiet"]
        return calm["quiet"]

    async def asked_to_wait(seconds, *more):
        asks = str(sys._getframe(1).f_globals["__name__"])
        if asks.startswith("reenact.browser.") and not {"camera", "watchdog"} & set(asks.split(".")):
            waits["after" if calm["quiet"] else "before"] += seconds
        return await sleep(seconds, *more)

    monkeypatch.setattr(aim.QuietPage, "quiet", quiet)
    monkeypatch.setattr(asyncio, "sleep", asked_to_wait)
    result, seen, heals = later(case.after, case.step)
    assert (seen, result.success, heals[-1].rung) == ([], False, "stop")
    assert calm["quiet"]
    assert waits["after"] < 1


def late(ms, before=""):
    """A bar whose button comes after some milliseconds, in front of what is there before."""
    return f"""<nav>{before}</nav><script>setTimeout(() => {{ const b = document.createElement("button");
    b.dataset.k = "ashore"; b.textContent = "Go ashore"; b.onclick = () => document.body.append("The crew is ashore");
    document.querySelector("nav").prepend(b) }}, {ms})</script>"""


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    "after",
    [
        late(2500),
        late(2500, before="<a href='%23' role=button data-k=all>Go ashore with all</a>"),
        late(2500, before="<button type=button data-k=all>Go ashore with all</button>"),
    ],
    ids=["alone", "beside a link", "beside a button that its selector finds"],
)
def test_an_element_that_a_timer_of_the_page_brings_is_waited_for(later, after):
    result, seen, _ = later(after, click("nav button"))
    assert (result.success, seen) == (True, ["click ashore"]), result.message


def hold(*names):
    """A list that draws only the records in view."""
    return f"""<h1>Hold</h1><div id=view style="height:120px;overflow:auto;position:relative"><div id=all></div></div><script>
    const names = {list(names)}; all.style.height = names.length * 30 + "px";
    const draw = () => {{ const from = Math.floor(view.scrollTop / 30); all.innerHTML = names.slice(from, from + 5).map((n, i) =>
      `<div class=crate style="position:absolute;top:${{(from + i) * 30}}px"><b>${{n}}</b>
       <button type=button data-k="${{n}}">Lash</button></div>`).join("") }};
    view.onscroll = draw; draw()</script>"""


CRATES = [f"Crate {n}" for n in range(400, 440)]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("first", "there"),
    [(20, True), (20, False), (21, True), (19, True), (20, "Crate 4010")],
    ids=["there", "gone", "in the middle of what is drawn", "at its edge", "behind a longer number"],
)
def test_a_record_that_a_list_has_not_drawn_is_scrolled_to(later, first, there):
    left = [one for one in CRATES if one != "Crate 401"]
    if isinstance(there, str):
        left[2], there = there, True
    shown = hold(*left[:first], *(["Crate 401"] if there else []), *left[first:])
    result, seen, _ = later(shown, click(CRATE))
    assert (result.success, seen) == (there, ["click Crate 401"] if there else []), result.message


def test_a_list_that_draws_some_frames_after_it_is_scrolled_is_waited_for(later):
    frames = "view.onscroll = () => requestAnimationFrame(() => requestAnimationFrame(draw))"
    page = hold(*CRATES[2:], "Crate 401").replace("view.onscroll = draw", frames)
    result, seen, _ = later(page, click(CRATE))
    assert (result.success, seen) == (True, ["click Crate 401"]), result.message


def pier(*names, **addresses):
    """A bar of links, each to a page of the site; `Orders` leads to the form."""
    leads = {"Home": "/article.html", "Orders": "/form.html?of=crew", "Crew": "/late.html", **addresses}
    links = " ".join(f"<a href='{leads.get(one, '/tabs.html')}' data-k={one}>{one}</a>" for one in names)
    return f"<nav>{links}</nav>"


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("after", "url"),
    [
        (pier("Home", "Catches", "Orders", "Crew", Orders="/rows.html"), "/rows.html"),
        (pier("Home", "All orders", "Orders", Orders="/rows.html"), "/rows.html"),
        (pier("Home", "Catches", "Bookings", "Crew", Bookings="/form.html?of=crew"), "/form.html?of=crew"),
    ],
    ids=[
        "the same link leads elsewhere now",
        "it stands elsewhere in the bar",
        "the link to the same page has another name",
    ],
)
def test_a_link_is_known_by_its_name_or_by_its_whole_address(later, after, url, monkeypatch):
    # On a busy machine a page takes longer to say what it shows; without that nothing can be verified.
    monkeypatch.setattr("reenact.browser.page.consequence.PATIENCE", 10)
    result, _, heals = later(after, click("nav a:nth-child(2)"))
    assert result.success, result.message
    assert (result.url.endswith(url), heals[-1].rung) == (True, "alternative")


def test_a_mend_does_not_depend_on_the_time_that_a_busy_machine_takes(later, monkeypatch):
    monkeypatch.setattr("reenact.browser.heal.candidates.PATIENCE", 1)
    result, _, heals = later(pier("Home", "Catches", "Orders", "Crew"), click("nav a:nth-child(2)"))
    assert (result.success, heals[-1].rung) == (True, "alternative"), result.message


@pytest.mark.thorough
@pytest.mark.parametrize(
    "after",
    [
        pier("Home", "Catches", "Bookings", "Crew", Bookings="/form.html?of=ships"),
        pier("Home", "Catches", "Bookings", "Log", Bookings="/form.html?of=crew", Log="/form.html?of=crew"),
        pier("Home", "Catches", "Delete", Delete="/form.html?of=crew"),
        pier("Home", "Catches", "Crew"),
    ],
    ids=["another query", "two links", "a grave word", "none"],
)
def test_no_other_link_is_followed(later, after):
    result, seen, _ = later(after, click("nav a:nth-child(2)"))
    assert (result.success, seen) == (False, []), result.message


def test_a_step_outside_a_block_waits_for_its_element_on_a_page_that_will_change(later):
    after = late(2500, before="<button type=button data-k=all>Go ashore with all</button>")
    result, seen, _ = later(after, click("nav button >> nth=0"), block=False)
    assert (result.success, seen) == (True, ["click ashore"]), result.message


def test_a_step_that_comes_to_no_press_leaves_no_guard_that_stops_the_next_one(later):
    html = """<details open><summary id=more data-k=more>More</summary><p>Rope</p></details>
    <button type=button id=go data-k=go>Go</button>"""
    known = {"type": "expand", "selector": "#more", "value": True, "expect_target": {"name": "More"}}
    result, seen, _ = later(html, known, block=False)
    assert (result.success, seen) == (True, [])
    page = later.session.page
    page.mouse.click(*_middle(page.locator("#go").bounding_box()))
    assert later.session.execute(type="evaluate_js", code="window.seen").data == ["click go"]


def _middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.thorough
@pytest.mark.parametrize("way", ["covered", "disabled", "hidden"])
def test_an_act_that_something_is_in_the_way_of_is_given_up_once_the_page_is_quiet(later, monkeypatch, way):
    after = {
        "covered": COVERED + LAYER,
        "disabled": COVERED.replace("id=hatch", "id=hatch disabled"),
        "hidden": COVERED.replace("id=hatch", "id=hatch style='visibility:hidden'"),
    }[way]
    given = []

    async def pressed(deed):
        given.append(deed.timeout)
        await pressing(deed)

    pressing = handlers.DEEDS["click"]
    monkeypatch.setitem(handlers.DEEDS, "click", pressed)
    result, seen, heals = later(after, {**click("#hatch"), "timeout": 60_000})
    assert (seen, result.success, heals[-1].rung) == ([], False, "stop")
    assert max(given) < 1000


def test_the_time_of_a_slow_look_is_no_wait_that_a_later_run_repeats(later, monkeypatch):
    look = aim._look

    async def slow(deed, **more):
        await asyncio.sleep(0.2)
        await look(deed, **more)

    monkeypatch.setattr(aim, "_look", slow)
    outcomes = later.session.core.outcomes
    later(COVERED, click("#hatch"), block=False)
    assert "waited" not in outcomes[1]
    later(late(1500), click("nav button"), block=False)
    assert outcomes[1]["waited"] > 0
