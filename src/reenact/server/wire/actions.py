"""Do the actions of requests in their sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reenact.browser.actions.types import Scrape
from reenact.browser.effects.calls import run
from reenact.errors import SessionError
from reenact.server.wire import requests, responses
from reenact.server.wire.hosted import Hosted
from reenact.server.wire.stored_files import SessionFiles


def executed(hosted: Hosted, body: Mapping[str, Any]) -> responses.ExecutionResponse:
    """Run an action.

    A failure on the page is a result. Raises UsageError for an invalid action.
    """
    live = hosted.live()
    action = requests.action_of(body, files_of(hosted))
    actor = "agent" if body.get("actor") == "agent" else "script"
    outcomes: list[Mapping[str, Any]] = []
    result = run(live.core.perform(action, actor, outcomes.append))
    return responses.execution(body, action, result, outcomes[-1])


def scraped(hosted: Hosted, body: Mapping[str, Any]) -> responses.DataResponse:
    """Read a session's page. Raises SessionError if that fails."""
    live = hosted.live()
    action = requests.action_of(requests.scrape_of(body), files_of(hosted))
    result = run(live.core.perform(action))
    wanted = isinstance(action, Scrape) and (action.instructions or action.response_format)
    if not result.success and not (wanted and result.data is not None):
        raise SessionError(result.message)
    return responses.scraped(result, action)


def files_of(hosted: Hosted) -> SessionFiles:
    """Return a session's files. Raises SessionError for a past session."""
    if hosted.files is None:
        raise SessionError("the session is closed: start a new one")
    return hosted.files
