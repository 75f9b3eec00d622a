"""Dismiss: close the layer over the element, such as a banner or a dialog.

It refuses or closes rather than accepts; it accepts only cookie requests. It leaves a layer that the script itself
opened, that contains a form being filled in, or whose exit would leave the page.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error

from reenact.browser.actions import aim
from reenact.browser.actions import types as do
from reenact.browser.effects.calls import arun
from reenact.browser.effects.operations import Hide, Operation
from reenact.browser.heal.mend import FailedStep, Mend, MendOptions, StepHistory
from reenact.browser.page.element_functions import of_element
from reenact.browser.page.live_browser import LiveBrowser
from reenact.errors import ReenactError

if TYPE_CHECKING:
    from reenact.browser.actions.results import ExecutionResult
    from reenact.browser.session.session import Session

LAYERS = 3
"""Largest number of layers that are closed."""

PATIENCE = 2000
"""Milliseconds that the step may take after the layers are closed."""

_POLL = 0.05

_REFUSE = """
    reject|reject all|reject all cookies|reject cookies|refuse|refuse all|decline|decline all|only necessary
    |necessary only|only necessary cookies|use necessary cookies only|essential only|only essential cookies|deny
    |deny all|no thanks|no thank you|not now|maybe later|later|skip|ablehnen|alle ablehnen|nur notwendige
    |nur notwendige cookies|nein danke|nicht jetzt|später|refuser|tout refuser|refuser tout|non merci|plus tard
    |continuer sans accepter|rechazar|rechazar todo|rechazar todas|no gracias|ahora no|más tarde|rifiuta
    |rifiuta tutto|no grazie|non ora|weigeren|alles weigeren|nee bedankt|niet nu|rejeitar|rejeitar tudo|não obrigado
    |agora não|odrzuć|odrzuć wszystkie|nie dziękuję
"""
_CLOSE = """
    close|close dialog|close banner|close this dialog|close modal|close popup|close message|dismiss|hide|got it|×|✕
    |✖|✗|x|schließen|schliessen|fermer|cerrar|chiudi|sluiten|fechar|zamknij|verstanden|compris|entendido|ho capito
    |begrepen
"""
_ACCEPT = """
    accept|accept all|accept all cookies|accept cookies|agree|i agree|i accept|agree and close|accept and close
    |allow|allow all|allow all cookies|allow cookies|ok|okay|continue|understood|i understand|akzeptieren
    |alle akzeptieren|alle cookies akzeptieren|zustimmen|einverstanden|accepter|tout accepter|accepter tout
    |j accepte|aceptar|aceptar todo|aceptar todas|aceptar cookies|accetta|accetta tutto|accetta tutti|accepteren
    |alles accepteren|akkoord|aceitar|aceitar tudo|akceptuję|zgadzam się|zaakceptuj wszystkie
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(" ".join(one.split()) for one in text.split("|"))


_WORDS = {"refuse": _names(_REFUSE), "close": _names(_CLOSE), "accept": _names(_ACCEPT)}
_COOKIES = re.compile(
    r"cookie|consent|gdpr|privacy|datenschutz|einwilligung|confidentialit|consentement|privacidad|riservatezza|prywatno",
    re.IGNORECASE,
)


_LOOK = "(el.scrollIntoViewIfNeeded?.(), eyes.overlay(el))"
"""JavaScript that scrolls to the element as the step would, and describes the layer over it.

One call takes less time than two.
"""


class DismissRung:
    """Closes cookie banners, dialogs and other layers, then does the step."""

    name = "dismiss"

    async def mend(
        self, session: Session, failed: FailedStep, known: StepHistory, means: MendOptions
    ) -> Mend | None:
        """Close the layers over the element, one by one, and do the step again."""
        asked = failed.asked
        if failed.delivered or failed.reason != "covered" or not isinstance(asked, do.Aimed):
            return means.pass_on(self.name, "nothing covers the element")
        closed: list[str] = []
        pressed: list[Mapping[str, Any]] = []
        escaped = False
        for _ in range(LAYERS):
            layer = await _layer(session, failed, pressed)
            if layer is None:
                break
            if not layer["over"] or _own(session, layer):
                return means.pass_on(self.name, "the layer belongs to the page", layer.get("described", ""))
            if any(_same(layer, one) for one in pressed):
                return means.pass_on(self.name, "its exit did not close the layer", layer["described"])
            if layer["modal"] and not layer["fields"] and not escaped:
                escaped, way = True, "Escape"
                away: do.Action = do.PressKey(key="Escape")
            elif (exit_ := way_out(layer)) is not None:
                pressed.append(layer)
                way, away = exit_["described"], _press(exit_["selector"])
            else:
                return means.pass_on(self.name, "the layer has no safe exit", layer["described"])
            done = await arun(session.core.perform(away, "heal"))
            closed.append(f"{layer['described']}: {way}")
            if address := _address_after(done):
                return _halted(failed, done, closed, address)
        if not closed:
            return None
        again = asked.model_copy(update={"timeout": PATIENCE})
        result = await arun(session.core.perform(again, "heal", target=failed.key))
        if not result.success and not result.delivered:
            return None
        evidence = {"reason": failed.reason, "closed": closed, "consequence": result.consequence}
        old, new = failed.action.get("selector"), dict(result.selectors or {})
        return Mend(result, self.name, old, new, evidence=evidence, same_element=True)


def _press(selector: Any) -> do.Click:
    return do.Click(id=None, selector=selector, timeout=PATIENCE, expect_target=None, drift=None)


def way_out(layer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the control that closes a layer: refuse, else close, else (only cookies) accept."""
    cookies = bool(_COOKIES.search(str(layer.get("text") or "")))
    for kind, words in _WORDS.items():
        if kind == "accept" and not cookies:
            continue
        for way in layer["exits"]:
            if _tidy(way["name"]) in words and not way["leads"] and not way["submits"]:
                return dict(way)
    return None


def _tidy(name: str) -> str:
    words = " ".join(re.sub(r"[^\w×✕✖✗]+", " ", name).split()).lower()
    return words or name.strip()


def _own(session: Session, layer: Mapping[str, Any]) -> bool:
    """Return True if the script's last step opened the layer, and so needs it."""
    done = [one for one in session.core.outcomes if one["success"] and one.get("actor") == "script"]
    added: Sequence[str] = (
        ((done[-1].get("consequence") or {}).get("dom") or {}).get("added") or () if done else ()
    )
    return any(line.startswith(("dialog", "alertdialog")) for line in added) and bool(layer["modal"])


def _address_after(done: ExecutionResult) -> str:
    """Return the address to which the closing of a layer led, or ""."""
    return str((done.consequence or {}).get("navigated") or "")


def _halted(failed: FailedStep, done: ExecutionResult, closed: list[str], address: str) -> Mend:
    message = f"{failed.result.message} Closing what lay over it ({closed[-1]}) led to {address}: the step was not done"
    result = failed.result.model_copy(update={"message": message, "url": done.url, "title": done.title})
    return Mend(
        result, "dismiss", failed.action.get("selector"), evidence={"closed": closed, "address": address}
    )


def _same(layer: Mapping[str, Any], pressed: Mapping[str, Any]) -> bool:
    """Return True if an exit of the layer was pressed before: it is not pressed again."""
    return all(layer.get(part) == pressed.get(part) for part in ("described", "text"))


async def _layer(
    session: Session, failed: FailedStep, pressed: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any] | None:
    """Describe the layer over the step's element; None if there is none.

    A layer whose exit was pressed may take until the page is at rest to disappear.
    """
    asked = failed.asked
    assert isinstance(asked, do.Aimed)
    quick = asked.model_copy(update={"timeout": 500})

    async def live(browser: LiveBrowser, call: int | None) -> dict[str, Any] | None:
        calm, end = aim.QuietPage(browser, browser.page), monotonic() + PATIENCE / 1000
        while True:
            try:
                with browser.use():
                    locator = await aim.found(browser, quick)
                    found = await of_element(locator, _LOOK, timeout=500)
            except (Error, ReenactError) as error:
                return {"over": False, "described": str(error).splitlines()[0]}
            if found is None or not any(_same(found, one) for one in pressed):
                return found and dict(found)
            if monotonic() >= end or (await calm.finished(end) and not found["moves"]):
                return dict(found)
            await asyncio.sleep(_POLL)

    def args(_: Hide) -> dict[str, Any]:
        return {name: failed.action[name] for name in ("selector", "id") if name in failed.action}

    found = await arun(session.core.driver.run(Operation("layer", live, args, kind="heal")))
    return None if found is None else {"modal": False, "fields": 0, "exits": [], **found}
