"""Routes for a script's heal block: check the page, mend a step, keep a heal."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from reenact.browser.effects.calls import run
from reenact.browser.heal import expect as expecting
from reenact.errors import SessionError
from reenact.server.access import Writer
from reenact.server.refusals import refusals
from reenact.server.wire import mending
from reenact.server.wire.responses import Json
from reenact.server.wire.routing import Asked, Hosts, SessionId, WireRoute

router = APIRouter(
    prefix="/sessions", tags=["sessions"], route_class=WireRoute, responses=refusals(400, 401, 403, 404, 409)
)


class VerdictResponse(BaseModel):
    """The result of an expectation: `met`, `unmet` or `unknown`."""

    state: str
    by: str


class AddressResponse(BaseModel):
    """The address of the page in front."""

    url: str


class HealResponse(BaseModel):
    """A heal record, as recorded."""

    heal: dict[str, Json]


@router.post("/{id}/page/expect")
def expect(access: Writer, hosts: Hosts, id: SessionId, body: Asked) -> VerdictResponse:
    """Check the page for `url`, `text` or `selector`; with `now`, without waiting."""
    live = hosts.find(access.project, id).live()
    what = expecting.sent(body)
    verdict = run(live.core.driver.run(expecting.looking(what, 0 if body.get("now") else expecting.PATIENCE)))
    return VerdictResponse(state=verdict["state"], by=verdict["by"])


@router.get("/{id}/page/address")
def address(access: Writer, hosts: Hosts, id: SessionId) -> AddressResponse:
    """Return the address of the page in front, for clients that match a pattern."""
    driver = hosts.find(access.project, id).live().core.driver
    browser = driver.live
    if browser is None:
        raise SessionError("the session's browser is gone")

    async def url() -> str:
        return browser.page.url

    return AddressResponse(url=driver.call(url).block())


@router.post("/{id}/page/mend")
def mend(access: Writer, hosts: Hosts, id: SessionId, body: Asked) -> mending.Mending:
    """Mend a failed step: its `action` and `count`, and its block's `expect` and `model`."""
    return mending.mended(hosts.find(access.project, id), body)


@router.post("/{id}/page/heal")
def heal(access: Writer, hosts: Hosts, id: SessionId, body: Asked) -> HealResponse:
    """Store the record of a mend, or of an agent's takeover, in the session's recording."""
    return HealResponse(heal=mending.kept(hosts.find(access.project, id), body))
