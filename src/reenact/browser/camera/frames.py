"""One tab's pictures: limited in rate, each with its true time, written as they come."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from reenact.browser.camera.gate import ActionGate
from reenact.browser.camera.screencast import Screencast
from reenact.browser.camera.writer import FootageWriter

ANCHORED = 0.35
"""Most seconds until a picture arrives: an anchor waits this long for earlier ones."""
SETTLED = 0.1
"""Seconds after an action until pictures show its effect."""
QUIET = 0.3
"""Seconds without a picture after which a fast page is photographed once more."""
FAST = 0.1
"""Seconds between two pictures below which the browser may have dropped the last one."""
ENDLESS = 8
"""Pictures within a second after which a page counts as endlessly moving."""
HELD = 2
"""Pictures that the browser sends before the first one is acknowledged."""
REMEMBERED = 32
"""Latest pictures that an anchor may refer to."""
RESTS = ((5.0, 1), (60.0, 4), (float("inf"), 16))
"""Seconds since the last action, and the factor on an endless animation's picture interval."""
CREDIT, RATE = 500_000, 1_000_000 / 60
"""Bytes of pictures at once, and each second; an animation that needs more is slowed down."""


@dataclass(slots=True)
class CapturedFrame:
    """A picture with its facts, until it is stored."""

    t: float
    data: bytes
    mark: int
    size: tuple[int, int]
    viewport: list[float]
    blob: str = ""

    @classmethod
    def of(cls, t: float, data: bytes, viewport: Sequence[float] | None = None) -> Self:
        """Make a picture from a JPEG.

        `viewport` is the page's size in CSS pixels; without it, one pixel of the picture is one of the page.
        """
        size = size_of(data)
        known = viewport is not None and min(viewport) > 0
        return cls(t, data, hash(data), size, [*viewport] if viewport and known else [*size])


@dataclass(frozen=True, slots=True)
class FrameSettings:
    """Settings of pictures: largest size in pixels, JPEG quality (0 to 100), most a second."""

    size: tuple[int, int]
    quality: int
    rate: float


@dataclass(slots=True)
class RequestedFrame:
    """A requested picture: the page at that moment."""

    t: float
    why: str
    call: int | None


class FrameRecorder:
    """One tab's pictures, from Playwright's screencast.

    A page that does not change gives none. Of a page that changes, at most `rate` a second are kept, and always the
    last one. Around an action (`cut`), the last picture before it and the first after it are kept at any rate. A page
    that never rests is not filmed but photographed, less often the longer no action was done and the larger its
    pictures are.
    """

    def __init__(
        self,
        page: Any,
        tab: int,
        log: FootageWriter,
        *,
        gate: ActionGate,
        film: FrameSettings,
    ) -> None:
        self._page = page
        self._tab = tab
        self._log = log
        self._gate = gate
        self._stream = Screencast(page, log, self.take, gate, size=film.size, quality=film.quality)
        self._quality = film.quality
        self._gap = 1 / film.rate
        self._pending: Mapping[str, Any] | None = None
        self._kept = self._cut = self._acted = -1.0
        self._arrivals: deque[float] = deque(maxlen=ENDLESS)
        self._fast = self._looking = False
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._held = 0
        self._spent, self._counted = 0.0, log.now()
        self._written: list[CapturedFrame] = []
        self._anchors: list[RequestedFrame] = []
        self._running = False

    def start(self) -> None:
        """Start filming."""
        self._running = True
        self._stream.on()

    def crashed(self) -> None:
        """Note that the page has crashed: its last picture stays."""
        self._running = False
        self._stream.dead()

    async def settled(self) -> None:
        """Wait until pictures show the last action's effect: a tenth of a second at most."""
        last = max((anchor.t for anchor in self._anchors), default=0.0)
        if (left := last - self._log.now()) > 0:
            await asyncio.sleep(left + 0.05)

    async def stop(self) -> None:
        """Write pending pictures and stop."""
        self._running = False
        for timer in self._timers.values():
            timer.cancel()
        self._keep_pending()
        for anchor in self._anchors:
            self._anchor(anchor)
        self._anchors.clear()
        await self._stream.stop()

    # -- pictures --------------------------------------------------------------------------------------------

    def take(self, frame: Mapping[str, Any]) -> None:
        """Take a picture from Playwright: `data` (JPEG) and `timestamp` (milliseconds since 1970)."""
        t = self._log.at(frame["timestamp"])
        waiting = -1.0 if self._pending is None else self._log.at(self._pending["timestamp"])
        if t < max(self._kept, waiting):  # the browser may send the last picture of a left page late
            self._keep(frame, t)
            self._pace(t)
            return
        if self._pending is not None and waiting <= self._cut < t:
            self._keep_pending()  # the last one before an action
        if t - self._kept >= self._gap or self._kept <= self._cut < t:
            self._pending = None
            self._keep(frame, t)
        else:
            self._pending = frame
            if "pending" not in self._timers:
                self._later("pending", self._kept + self._gap - t, self._keep_pending)
        self._pace(t)

    def _pace(self, t: float) -> None:
        """Continue filming, or take a picture later."""
        last = self._arrivals[-1] if self._arrivals else -1.0
        self._arrivals.append(t)
        if self._gate.shut:
            self._held += 1
        if not self._running or self._gate.shut:
            return
        if self._looking:
            if t >= self._acted + SETTLED:
                self._stream.off()
                self._later("look", self._rest(), self._look)
        elif len(self._arrivals) == ENDLESS and t - self._arrivals[0] < 1:
            self._looking = True
            self._stream.off()
            self._later("look", self._gap, self._look)
        else:
            self._fast = self._fast or t - last < FAST
            if self._fast:
                # The browser drops pictures of a page that paints too fast, perhaps the last one.
                self._later("quiet", QUIET, self._look_again)

    def _rest(self) -> float:
        idle = self._log.now() - self._acted
        times = next(times for seconds, times in RESTS if idle < seconds)
        return self._gap * (RESTS[-1][1] if self._overspent() else times)

    def _overspent(self) -> bool:
        """Return True if the kept pictures take more bytes than an endless animation may."""
        return self._spent - (self._log.now() - self._counted) * RATE > CREDIT

    def _count(self, size: int) -> None:
        """Count the bytes of a picture that is kept."""
        now = self._log.now()
        self._spent = max(0.0, self._spent - (now - self._counted) * RATE) + size
        self._counted = now

    def _look(self) -> None:
        if self._running and not self._gate.shut:
            self._stream.on()

    def _look_again(self) -> None:
        self._fast = False
        if self._running and not self._gate.shut:
            self._stream.again()

    def _later(self, what: str, seconds: float, act: Callable[[], None]) -> None:
        if (timer := self._timers.pop(what, None)) is not None:
            timer.cancel()

        def due() -> None:
            self._timers.pop(what, None)
            self._log.guarded(act)()

        self._timers[what] = asyncio.get_running_loop().call_later(max(0.0, seconds), due)

    # -- actions ---------------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Note that an action begins or ends now: the pictures before and after it are kept."""
        self._cut = self._acted = self._log.now()

    def go_on(self) -> None:
        """Film again after an action."""
        held, self._held = self._held, 0
        if self._running:
            if not self._overspent():
                self._looking = False
            self._arrivals.clear()
            self._stream.on()
            if held >= HELD:  # the browser may have dropped the last one
                self._later("quiet", QUIET, self._look_again)

    # -- keeping ---------------------------------------------------------------------------------------------

    def _keep_pending(self) -> None:
        if (timer := self._timers.pop("pending", None)) is not None:
            timer.cancel()
        frame, self._pending = self._pending, None
        if frame is not None:
            self._log.guarded(self._keep)(frame, self._log.at(frame["timestamp"]))

    def _keep(self, frame: Mapping[str, Any], t: float) -> None:
        self._kept = max(self._kept, t)
        viewport = [float(frame.get(side) or 0) for side in ("viewportWidth", "viewportHeight")]
        picture = CapturedFrame.of(t, frame["data"], viewport)
        if self._looking and self._written and self._written[-1].mark == picture.mark:
            self._looking = False  # at rest, each change sends a picture
            self._arrivals.clear()
        self._write(picture)

    def _write(self, picture: CapturedFrame) -> None:
        data, picture.data = picture.data, b""
        place = bisect_right(self._written, picture.t, key=lambda one: one.t)
        if place == 0 or self._written[place - 1].mark != picture.mark:
            picture.blob = self._log.blob(data)
            self._count(len(data))
            self._log.write("frame", t=picture.t, **_members_of(picture, self._tab))
            self._written.insert(place, picture)
            del self._written[:-REMEMBERED]
        if self._anchors:
            self._settle()

    # -- anchors ---------------------------------------------------------------------------------------------

    def want(self, why: str, call: int | None, *, settled: bool = False) -> None:
        """Request a picture of the page as it is now.

        With `settled`, the picture shows the effect of the last action.
        """
        now = self._log.now()
        for anchor in self._anchors:
            anchor.t = min(anchor.t, now)  # a pending one must not show a later action
        self._anchors.append(RequestedFrame(now + SETTLED if settled else now, why, call))
        delay = ANCHORED + (SETTLED if settled else 0)
        asyncio.get_running_loop().call_later(delay, self._log.guarded(self._settle))

    def _settle(self) -> None:
        """Write the anchors whose picture is known."""
        newest = self._written[-1].t if self._written else -1.0
        now = self._log.now()
        while self._anchors:
            anchor = self._anchors[0]
            if newest <= anchor.t and now < anchor.t + ANCHORED - 0.01:
                return
            self._anchor(self._anchors.pop(0))

    def _anchor(self, anchor: RequestedFrame) -> None:
        before = [picture for picture in self._written if picture.t <= anchor.t]
        if before:
            self._write_anchor(anchor, before[-1])
        elif self._written:
            if (
                anchor.why != "before"
            ):  # no earlier picture exists, and a later one would show the action's effect
                anchor.t = self._written[0].t
                self._write_anchor(anchor, self._written[0])
        elif self._running:
            self._log.start(self._shoot(anchor), "a screenshot")

    def _write_anchor(self, anchor: RequestedFrame, picture: CapturedFrame) -> None:
        members: dict[str, Any] = {"why": anchor.why, "call": anchor.call}
        self._log.write("anchor", t=anchor.t, **_members_of(picture, self._tab), **members)

    async def _shoot(self, anchor: RequestedFrame) -> None:
        """Take a screenshot of a tab that has no picture yet; it delays the page by about 40 ms."""
        if self._page.is_closed():
            return
        data = await self._page.screenshot(
            type="jpeg", quality=self._quality, caret="initial", scale="css", timeout=2000
        )
        anchor.t = self._log.now()
        picture = CapturedFrame.of(anchor.t, data)
        picture.blob = self._log.blob(picture.data)
        self._write_anchor(anchor, picture)


def _members_of(picture: CapturedFrame, tab: int) -> dict[str, Any]:
    width, height = picture.size
    return {
        "tab": tab,
        "blob": picture.blob,
        "width": width,
        "height": height,
        "viewport": [round(side) for side in picture.viewport],
        "masks": [],
    }


def size_of(jpeg: bytes) -> tuple[int, int]:
    """Return width and height of a JPEG, from its header. Raises ValueError if it is none."""
    at = 2
    while jpeg[:2] == b"\xff\xd8" and at + 9 <= len(jpeg) and jpeg[at] == 0xFF:
        marker = jpeg[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            return int.from_bytes(jpeg[at + 7 : at + 9]), int.from_bytes(jpeg[at + 5 : at + 7])
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4])
    raise ValueError("the browser gave a picture that is no JPEG")
