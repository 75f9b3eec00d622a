"""A page instead of a video, without an encoder: it contains the frames with their times.

It needs no server and sends no request. It contains recorded data only as pixels and as escaped text.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reenact.analysis.pages import html as pages
from reenact.browser.video.captions import Chapter
from reenact.core import private

if TYPE_CHECKING:
    from reenact.browser.video.overlays import Planes

_SCRIPT = """
const say = id => document.getElementById(id);
const frames = [...document.querySelectorAll("template[data-ms]")];
const times = frames.map(frame => Number(frame.dataset.ms));
const whole = Number(document.body.dataset.ms);
const picture = say("picture"), place = say("place"), play = say("play");
let now = 0, running = false, before = 0, shown = -1;
const clock = ms => Math.floor(ms / 60000) + ":" + String(Math.floor(ms / 1000) % 60).padStart(2, "0");
function draw() {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= now) low = middle; else high = middle - 1;
  }
  if (low !== shown) { shown = low; picture.src = frames[low].content.textContent.trim(); }
  place.value = now;
  say("time").textContent = clock(now) + " / " + clock(whole);
}
function run(at) {
  if (!running) return;
  now = Math.min(now + Math.max(at - before, 0), whole);
  before = at;
  draw();
  if (now >= whole) stop(); else requestAnimationFrame(run);
}
function stop() { running = false; play.textContent = "Play"; }
function start() {
  if (now >= whole) now = 0;
  running = true;
  play.textContent = "Pause";
  before = performance.now();
  requestAnimationFrame(run);
}
function seek(ms) { now = Number(ms); draw(); }
play.addEventListener("click", () => running ? stop() : start());
place.addEventListener("input", () => seek(place.value));
say("steps").addEventListener("click", event => {
  if (event.target.dataset.ms !== undefined) seek(event.target.dataset.ms);
});
draw();
"""

_STYLE = (
    pages.TOKENS
    + """
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 14px/1.5 var(--sans); }
main { max-width: 1280px; margin: 0 auto; padding: 1rem; }
img { width: 100%; display: block; border: 1px solid var(--line); border-radius: 8px; }
.row { display: flex; gap: .75rem; align-items: center; margin: .75rem 0; }
input { flex: 1; min-width: 0; accent-color: var(--accent); }
#time { color: var(--quiet); font-variant-numeric: tabular-nums; }
ol { margin: 0; padding: 0; list-style: none; border-top: 1px solid var(--line); }
button { font: inherit; color: inherit; cursor: pointer; }
#play { min-width: 5rem; padding: .3rem .8rem; border: 1px solid var(--accent); border-radius: var(--radius);
  background: var(--accent); color: var(--on-accent); }
li button { width: 100%; padding: .4rem .6rem; border: 0; border-bottom: 1px solid var(--line); background: none;
  text-align: left; overflow-wrap: anywhere; }
li button:hover { background: var(--hover); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
"""
)


class PageEncoder:
    """Writes frames as JPEG into a page. A repeated frame takes no space."""

    def __init__(self, path: Path, title: str, chapters: Sequence[Chapter]) -> None:
        self._file = open(path, "w", encoding="utf-8", opener=private.opener)  # noqa: SIM115 - closed at the end
        self._title, self._chapters = title, chapters
        self._last = b""
        self._file.write(pages.head(title, _STYLE, pages.policy(_STYLE, _SCRIPT, img_src="data:")))

    def add(self, ms: int, planes: Planes) -> None:
        """Add a frame that is shown from that millisecond on."""
        made = io.BytesIO()
        planes.rgb().save(made, "JPEG", quality=72)
        data = made.getvalue()
        if data != self._last:
            text = base64.b64encode(data).decode()
            self._file.write(f'<template data-ms="{ms}">data:image/jpeg;base64,{text}</template>\n')
            self._last = data

    def close(self, ms: int) -> None:
        """Set the end of the last frame and complete the file."""
        steps = "".join(
            f'<li><button type="button" data-ms="{one.ms}">{pages.escaped(one.title)}</button></li>'
            for one in self._chapters
        )
        self._file.write(
            f'<body data-ms="{ms}"><main><h1 hidden>{pages.escaped(self._title)}</h1>'
            '<img id="picture" alt="The page at this moment">'
            '<div class="row"><button type="button" id="play">Play</button>'
            f'<input type="range" id="place" min="0" max="{ms}" step="25" value="0" aria-label="Time">'
            f'<span id="time"></span></div><ol id="steps">{steps}</ol></main>'
            f"<script>{_SCRIPT}</script></body></html>\n"
        )
        self._file.close()

    def abandon(self) -> None:
        """Stop; the written part is of no use."""
        self._file.close()
