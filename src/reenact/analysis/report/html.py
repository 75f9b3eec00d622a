"""Render a page as one HTML file without scripts, fonts, pictures or network access."""

from __future__ import annotations

import base64
from html import escape

from reenact.analysis.report.page import Block, Page, Section, visible

COLOURS = """
:root { color-scheme: light dark; --ink: #1f2328; --dim: #656d76; --line: #d8dee4; --paper: #fff; --shade: #f6f8fa;
  --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; --warm: #fff8c5; --link: #0969da; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --dim: #8d96a0; --line: #30363d; --paper: #0d1117;
  --shade: #161b22; --good: #3fb950; --bad: #f85149; --warn: #d29922; --warm: #272115; --link: #4493f8; } }
"""
"""The colours of every page of ours, in light and in dark."""

_STYLE = """
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; color: var(--ink); background: var(--paper);
  font: 15px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.7rem; } h2 { margin: 2.2rem 0 .7rem; font-size: 1.15rem; }
.lead { color: var(--dim); margin: .3rem 0 0; } a { color: var(--link); }
pre, code { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; }
pre { margin: .4rem 0; padding: .6rem .8rem; background: var(--shade); border: 1px solid var(--line);
  border-radius: 6px; max-height: 26rem; overflow: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.1rem; margin: .5rem 0; }
dt { color: var(--dim); } dd { margin: 0; }
table { border-collapse: collapse; margin: .5rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; overflow-wrap: normal; }
th, td { vertical-align: top; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--dim); font-weight: 500; }
.note { margin: .5rem 0; padding: .4rem .8rem; background: var(--warm); border-left: 3px solid var(--warn); }
.versus { display: grid; gap: .2rem 1rem; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr));
  margin: .4rem 0; } .versus > div { min-width: 0; }
.versus b { color: var(--dim); font-weight: 500; font-size: .85rem; }
details { border-bottom: 1px solid var(--line); } details > div { padding: 0 0 .8rem 1.3rem; }
summary { display: flex; gap: .7rem; padding: .35rem 0; cursor: pointer; align-items: baseline; }
summary > * { flex: none; } summary .what { flex: 1; min-width: 0; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; color: var(--dim); }
summary::before { content: '▸'; color: var(--dim); } details[open] > summary::before { content: '▾'; }
details[open] > summary .what { white-space: normal; }
.number { width: 2.2rem; text-align: right; color: var(--dim); } .number:empty { display: none; }
.time { color: var(--dim); font-variant-numeric: tabular-nums; width: 4.2rem; text-align: right; }
.time:empty { display: none; } .name { font-weight: 600; max-width: 40%; }
.error .name, .error .what { color: var(--bad); }
@media (max-width: 40rem) { summary { flex-wrap: wrap; } .time { display: none; } .name { max-width: 80%; }
  dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { details > div { display: block; } pre { max-height: none; } }
"""


def html(page: Page, attached: tuple[str, bytes] | None = None) -> str:
    """The page. `attached` is a file's name and content, to be saved from the page itself."""
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        '<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        # Whatever a recording holds, a page of it runs nothing and fetches nothing.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{_text(page.title)}</title><style>{COLOURS}{_STYLE}</style></head>",
        f'<body><h1>{_text(page.title)}</h1><p class="lead">{_text(page.lead)}</p>',
    ]
    if attached is not None:
        name, data = attached
        address = f"data:application/zip;base64,{base64.b64encode(data).decode()}"
        size = f"{len(data) / 1000:,.1f} kB"
        parts.append(
            f'<p><a download="{_text(name)}" href="{address}">Save the recording, {_text(name)}</a> ({size})</p>'
        )
    parts += [_section(section) for section in page.sections]
    return "\n".join([*parts, "</body></html>", ""])


def _section(section: Section) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f"<section><h2>{_text(section.title)}</h2>\n{blocks}</section>"


def _block(block: Block) -> str:
    if block.kind == "code":
        return f"<pre>{_text(block.text)}</pre>"
    if block.kind == "note":
        return f'<p class="note">{_text(block.text)}</p>'
    if block.kind == "facts":
        rows = "".join(
            f"<dt>{_text(name)}</dt><dd><code>{_text(value)}</code></dd>" for name, value in block.rows
        )
        return f"<dl>{rows}</dl>" if rows else ""
    if block.kind == "table":
        head, *others = block.rows
        titles = "".join(f"<th>{_text(cell)}</th>" for cell in head)
        body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in others)
        return f"<table><tr>{titles}</tr>{body}</table>"
    if block.kind == "versus":
        texts = (f"<div><b>{_text(title)}</b><pre>{_text(value)}</pre></div>" for title, value in block.rows)
        return f'<div class="versus">{"".join(texts)}</div>'
    if block.kind == "step":
        return _step(block)
    return f"<p>{_text(block.text)}</p>"


def _step(block: Block) -> str:
    number, began, name, duration, status = block.rows[0]
    failed = ' class="error"' if status not in ("ok", "") else ""
    spans = (("number", number), ("time", began), ("name", name), ("what", block.text), ("time", duration))
    head = "".join(f'<span class="{kind}">{_text(value)}</span>' for kind, value in spans)
    inside = "".join(_block(each) for each in block.inside)
    return f"<details{failed}><summary>{head}</summary><div>{inside}</div></details>"


def _text(value: str) -> str:
    return escape(visible(value))
