"""Answers of the browser API, the same for Reenact's client and for `notte-sdk` 1.9.7.

`notte-sdk` ignores unknown fields; Reenact's client also reads `outcome`, `element` and others.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel

from reenact.browser.actions import types as do
from reenact.browser.actions.results import ElementAction, ExecutionResult, Observation, Tab, Viewport
from reenact.server.wire.hosted import Hosted
from reenact.server.wire.stored_files import File

Json = Any
"""Any JSON value: from a page, a model or a recording."""


class SessionResponse(BaseModel):
    """A session: `status` is `active` or `closed`; `reason` and `close_reason` say why it ended."""

    session_id: str
    status: Literal["active", "closed"]
    reason: str
    close_reason: str | None
    url: str
    created_at: datetime
    closed_at: datetime | None
    last_accessed_at: datetime
    duration: float
    idle_timeout_minutes: int
    max_duration_minutes: int
    steps: list[dict[str, Json]]
    error: str | None = None
    proxies: bool = False
    browser_type: str
    user_agent: str | None
    viewport_width: int | None
    viewport_height: int | None
    headless: bool
    cdp_url: str | None = None
    viewer_url: str
    recording: str


class ErrorResponse(BaseModel):
    """An action's error, from which a client makes an exception."""

    error_type: str
    dev_message: str
    user_message: str
    agent_message: str


class ImageResponse(BaseModel):
    """A picture of a page."""

    url: str | None
    category: str | None = None
    description: str | None = None


class StructuredResponse(BaseModel):
    """Structured data that a model read from a page."""

    success: bool
    error: str | None
    data: Json


class DataResponse(BaseModel):
    """The data of an action: text, pictures, or a model's structured data."""

    markdown: str
    images: list[ImageResponse] | None = None
    structured: StructuredResponse | None = None


class ExecutionResponse(BaseModel):
    """The result of an action: `outcome` is the recorded one, `step` its step in the recording."""

    action: dict[str, Json]
    success: bool
    message: str
    data: DataResponse | None
    exception: str | None
    exception_detail: ErrorResponse | None
    started_at: datetime
    ended_at: datetime
    step: int | None = None
    outcome: dict[str, Json]


class InteractionResponse(BaseModel):
    """A possible action on an element; `element` has the known facts."""

    type: str
    id: str
    category: str
    description: str
    text_label: str
    value: str | bool | None = None
    element: dict[str, Json]


class MetadataResponse(BaseModel):
    """The page of an observation."""

    title: str
    url: str
    viewport: Viewport
    tabs: list[Tab]
    timestamp: datetime


class SpaceResponse(BaseModel):
    """The possible actions on the page."""

    description: str
    category: str | None = None
    interaction_actions: list[InteractionResponse]


class ObservationResponse(BaseModel):
    """The content of the page; `screenshot` is base64."""

    metadata: MetadataResponse
    screenshot: str
    space: SpaceResponse
    tab: int | None
    started_at: datetime
    ended_at: datetime


class FileInfo(BaseModel):
    """A file of a session."""

    id: str
    session_id: str
    filename: str
    mime_type: str
    size: int
    checksum: str
    created_at: datetime
    expires_at: datetime
    source: str


def session(hosted: Hosted, viewer: str) -> SessionResponse:
    """Describe a session.

    Args:
        hosted: The session.
        viewer: The address of its page for people.
    """
    state, options = hosted.session.status(), hosted.session.options
    closed = hosted.closed
    return SessionResponse(
        session_id=hosted.id,
        status="active" if closed is None else "closed",
        reason=hosted.reason,
        close_reason=hosted.cause,
        url=state.url,
        created_at=hosted.created,
        closed_at=closed,
        last_accessed_at=hosted.used,
        duration=((closed or datetime.now(UTC)) - hosted.created).total_seconds(),
        idle_timeout_minutes=math.ceil(options.idle_timeout_minutes),
        max_duration_minutes=math.ceil(options.max_duration_minutes),
        steps=[dict(one) for one in hosted.session.outcomes],
        browser_type=options.browser_type,
        user_agent=options.user_agent,
        viewport_width=options.viewport_width or 1280,
        viewport_height=options.viewport_height or 720,
        headless=options.headless,
        viewer_url=viewer,
        recording=hosted.id,
    )


def execution(
    asked: Mapping[str, Any], action: do.Action, result: ExecutionResult, outcome: Mapping[str, Any]
) -> ExecutionResponse:
    """Describe the outcome of an action.

    Args:
        asked: The action of the request, which is returned without the values of secret fields.
        action: The performed action.
        result: Its result.
        outcome: Its recorded result.
    """
    shown = {name: value for name, value in asked.items() if name != "actor"}
    if "value" in shown and (said := getattr(result.action, "value", None)) != getattr(action, "value", None):
        shown["value"] = said
    error = result.exception
    detail = None
    if error is not None:
        detail = ErrorResponse(
            error_type=type(error).__name__,
            dev_message=str(error),
            user_message=str(error),
            agent_message=str(error),
        )
    told = dict(outcome)
    told["data"] = _plain(result.data)
    if not result.success and outcome["success"]:  # the page was read, but not by the model
        told |= {"success": False, "message": result.message, "error": {"text": result.message}}
    return ExecutionResponse(
        action=shown,
        success=result.success,
        message=result.message,
        data=_data(result, action),
        exception=None if error is None else str(error),
        exception_detail=detail,
        started_at=result.started_at,
        ended_at=max(result.ended_at, result.started_at),
        step=result.step,
        outcome=told,
    )


def scraped(result: ExecutionResult, action: do.Action) -> DataResponse:
    """Return the data read from a page."""
    return _data(result, action) or DataResponse(markdown="")


def observation(seen: Observation, tab: int | None, began: datetime, ended: datetime) -> ObservationResponse:
    """Describe an observed page."""
    about = seen.metadata
    return ObservationResponse(
        metadata=MetadataResponse(
            title=about.title,
            url=about.url,
            viewport=about.viewport,
            tabs=about.tabs,
            timestamp=about.timestamp,
        ),
        screenshot=base64.b64encode(seen.screenshot).decode(),
        space=SpaceResponse(
            description=seen.space.description,
            interaction_actions=[_interaction(one) for one in seen.space.interaction_actions],
        ),
        tab=tab,
        started_at=began,
        ended_at=ended,
    )


def file(session_id: str, one: File, expires: datetime) -> FileInfo:
    """A file of a session."""
    return FileInfo(
        id=one.id,
        session_id=session_id,
        filename=one.name,
        mime_type=one.kind,
        size=one.size,
        checksum=one.checksum(),
        created_at=one.created,
        expires_at=expires,
        source=one.source,
    )


def _interaction(one: ElementAction) -> InteractionResponse:
    known = one.model_dump(exclude={"type"}, exclude_none=True)
    if not known["options"]:
        del known["options"]
    value: str | bool | None = None
    if one.type in {"check", "expand"}:
        value = True
    elif one.type not in {"click", "drag", "drop"}:
        value = one.value or ""
    return InteractionResponse(
        type=one.type,
        id=one.id,
        category="Interaction Actions",
        description=f"{one.role} {one.name!r}" if one.name else one.role or one.type,
        text_label=one.name,
        value=value,
        element=known,
    )


def _data(result: ExecutionResult, action: do.Action) -> DataResponse | None:
    read = isinstance(action, do.Scrape) and (
        action.instructions is not None or action.response_format is not None
    )
    if read:
        failed = None if result.success else result.message
        told = StructuredResponse(
            success=result.success, error=failed, data=_plain(result.data) if result.success else None
        )
        return DataResponse(markdown="", structured=told)
    data = _plain(result.data)
    if isinstance(action, do.EvaluateJs):
        if not result.success:
            return None
        return DataResponse(markdown=data if isinstance(data, str) else json.dumps(data, ensure_ascii=False))
    if data is None:
        return None
    if isinstance(action, do.Scrape) and action.only_images:
        images = [ImageResponse(url=one.get("url"), description=one.get("alt") or None) for one in data]
        return DataResponse(markdown="", images=images)
    return DataResponse(
        markdown=data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, default=str)
    )


def _plain(value: Any) -> Json:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
