"""OpenHands: the events of a session, or the output of its evaluation (one run per line).

An action of the agent is a model call that asked for it, an observation a tool's result. These files do not have the
full prompts: a call's messages are made of the events before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import last_answer, moment
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Seen
from reenact.core.messages.message_text import content
from reenact.core.model.plain import compact

_IDLE = {"change_agent_state", "null", "recall", "initialize"}
_ABOUT = {
    "thought", "action", "content", "wait_for_response", "is_confirmed", "confirmation_state", "keep_prompt", "hidden",
    "action_risk", "blocking", "security_risk", "kernel_init_code", "id", "timestamp", "source", "message",
}  # fmt: skip


def is_openhands(document: Any) -> bool:
    """Return True for events, or runs with events."""
    return bool(_events_of(document)) or any(_history(item) for item in _lines(document))


def _lines(document: Any) -> list[Any]:
    return document if isinstance(document, list) else [document]


def _is_event(item: Any) -> bool:
    return isinstance(item, dict) and (
        isinstance(item.get("action"), str) or isinstance(item.get("observation"), str)
    )


def _events_of(document: Any) -> list[dict[str, Any]]:
    listed = document if isinstance(document, list) else []
    return listed if listed and all(_is_event(item) for item in listed) else []


def _history(item: Any) -> list[dict[str, Any]]:
    found = item.get("history") if isinstance(item, dict) else None
    if not isinstance(found, list) or not found:
        return []
    # Older outputs have pairs of an action and its observation.
    flat = [event for entry in found for event in (entry if isinstance(entry, list) else [entry])]
    return _events_of([event for event in flat if event])


def openhands(document: Any, path: Path) -> list[ImportedRun]:
    """Return one run of a session's events, or one for each line of an evaluation's output."""
    if events := _events_of(document):
        return [_run(events, path.stem, path, {})]
    found = []
    lines = _lines(document)
    for number, item in enumerate(lines, 1):
        events = _history(item)
        if not events:
            continue
        about = {
            key: value for key, value in item.items() if key != "history" and len(compact(value)) <= 4000
        }
        found.append(_run(events, f"{path.stem} {number}" if len(lines) > 1 else path.stem, path, about))
    return found


def _run(events: list[dict[str, Any]], name: str, path: Path, about: dict[str, Any]) -> ImportedRun:
    effects = list(_effects(events))
    failed = str(about.get("error") or "") if about else ""
    wrong = about.get("success") is False
    return ImportedRun(
        name=name,
        effects=effects,
        status="error" if failed or wrong else "ok",
        problem=failed or ("the run did not succeed" if wrong else ""),
        output=last_answer(effects),
        source={"format": "openhands", "file": str(path), **about},
        notes=(
            "OpenHands' events do not hold the prompts: a model call's messages are rebuilt from the events before it",
        ),
    )


def _effects(events: list[dict[str, Any]]) -> Iterator[Happened]:
    history: list[dict[str, Any]] = []
    waiting: list[tuple[str, dict[str, Any], Any]] = []
    before = None
    for place, event in enumerate(events):
        now = moment(event.get("timestamp"))
        action, observation = event.get("action"), event.get("observation")
        args = event["args"] if isinstance(event.get("args"), dict) else event
        if observation is not None:
            if observation in _IDLE or observation == "agent_state_changed":
                continue
            name, asked, began = waiting.pop(0) if waiting else (str(observation), {}, now)
            told = content(event.get("content"))
            yield Happened(
                "tool",
                name,
                asked,
                None if observation == "error" else told,
                told if observation == "error" else None,
                began=began,
                ended=now,
            )
            history.append({"role": "tool", "name": name, "content": told})
        elif action in _IDLE:
            continue
        elif action in ("message", "system") and (event.get("source") != "agent" or place == 0):
            role = "system" if action == "system" or event.get("source") == "environment" else "user"
            history.append({"role": role, "content": content(args.get("content"))})
        else:
            said = _said(event, str(action), args)
            model = str(_response(event).get("model") or "model")
            yield Happened("model", model, {"messages": Seen(history)}, said, began=before or now, ended=now)
            history.append({key: value for key, value in said.items() if key != "usage"})
            if action not in ("message", "finish"):
                waiting.append((_tool_name(event, str(action)), _asked(args), now))
        before = now or before


def _response(event: dict[str, Any]) -> dict[str, Any]:
    about = event.get("tool_call_metadata")
    found = about.get("model_response") if isinstance(about, dict) else None
    return found if isinstance(found, dict) else {}


def _tool_name(event: dict[str, Any], action: str) -> str:
    about = event.get("tool_call_metadata")
    return str((about or {}).get("function_name") or action) if isinstance(about, dict) else action


def _asked(args: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in args.items() if key not in _ABOUT}


def _said(event: dict[str, Any], action: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return the model's answer: the provider's, or one made of the action."""
    response = _response(event)
    choices = response.get("choices")
    if (
        isinstance(choices, list)
        and choices
        and isinstance(choices[0], dict)
        and isinstance(choices[0].get("message"), dict)
    ):
        usage = response.get("usage")
        return {
            "role": "assistant",
            **choices[0]["message"],
            **({"usage": usage} if isinstance(usage, dict) else {}),
        }
    text = content(args.get("thought")) or content(
        args.get("content") if action == "message" else args.get("final_thought")
    )
    said: dict[str, Any] = {"role": "assistant", "content": text}
    if action not in ("message", "finish"):
        said["tool_calls"] = [
            {"id": "", "type": "function", "function": {"name": action, "arguments": _asked(args)}}
        ]
    return said
