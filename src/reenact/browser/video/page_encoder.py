"""The video without an encoder: a page that contains its frames and shows each at its time.

It needs no server and sends no request. Recorded contents are in it only as pixels, and as text that is data.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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

_STYLE = """
body { margin: 0; background: #181b21; color: #f2f4f7; font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 16px; }
img { width: 100%; display: block; border-radius: 6px; }
.row { display: flex; gap: 12px; align-items: center; margin: 12px 0; }
input { flex: 1; }
ol { padding: 0; list-style: none; }
button { font: inherit; color: inherit; padding: 4px 12px; border: 1px solid #454d5b; border-radius: 6px; }
button { background: #2b303a; }
ol button { border: 0; background: none; text-align: left; width: 100%; }
button:hover, button:focus { background: #384050; }
"""


class PageEncoder:
    """Writes frames as JPEG into a page. A repeated frame takes no space."""

    def __init__(self, path: Path, title: str, chapters: Sequence[Chapter]) -> None:
        self._file = open(path, "w", encoding="utf-8", opener=private.opener)  # noqa: SIM115 - closed at the end
        self._title, self._chapters = title, chapters
        self._last = b""
        inline = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
        self._file.write(
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
            f"style-src 'unsafe-inline'; script-src 'sha256-{inline}'\">"
            f"<title>{html.escape(title)}</title><style>{_STYLE}</style>"
        )

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
            f'<li><button type="button" data-ms="{one.ms}">{html.escape(one.title)}</button></li>'
            for one in self._chapters
        )
        self._file.write(
            f'<body data-ms="{ms}"><main><h1 hidden>{html.escape(self._title)}</h1>'
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
