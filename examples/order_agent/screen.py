"""The picture in docs/debug.md: the debugger at the first tool of a recorded run, stopped there by a breakpoint."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping

import reenact
from reenact.core.query.facts import RecordingFacts
from reenact.run.debugger.machine import Phase
from reenact.run.driver import Driver
from reenact.tui.app import Debugger
from reenact.tui.notices import Heard

COLUMNS, LINES = 152, 24


def shoot(recording: str, environment: Mapping[str, str]) -> str:
    """The screen as SVG, with the program running under it."""
    return asyncio.run(_shoot(recording, environment.get("REENACT_HOME")))


async def _shoot(recording: str, home: str | None) -> str:
    loaded, heard = reenact.load(recording, home=home), Heard()
    with Driver(loaded, home=home, on_change=heard) as driver:
        app = Debugger(driver, RecordingFacts(loaded), heard)
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            await _still(app, driver, pilot.pause)
            driver.tell("break_at", "tool")
            driver.tell("go")
            await _still(app, driver, pilot.pause)
            drawn = app.export_screenshot(title="reenact debug")
    # A picture in a README may load nothing from elsewhere: whatever fixed-width font the reader has, will do.
    drawn = re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL)
    return drawn.replace("Fira Code", "ui-monospace, Menlo, Consolas") + "\n"


async def _still(app: Debugger, driver: Driver, pause: Callable[[float], Awaitable[None]]) -> None:
    """Until the program stands, and the screen shows it."""
    while driver.machine.state.phase is Phase.RUNNING:
        await pause(0.05)
    await pause(0.5)
