"""ATIF: the trajectories of Harbor's and Terminal-Bench's agents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import ASSISTANTS, last_answer, moment
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Seen, by_name
from reenact.core.messages.message_text import content


def is_atif(document: Any) -> bool:
    """Return True for a trajectory with its steps."""
    if not isinstance(document, dict) or not isinstance(document.get("steps"), list):
        return False
    return str(document.get("schema_version") or "").startswith("ATIF")


def atif(document: Any, path: Path) -> ImportedRun:
    """Make a model call of each step of the agent, with all steps before it, and its tool calls."""
    agent = document.get("agent") if isinstance(document.get("agent"), dict) else {}
    lost: list[str] = []
    effects = list(_effects(document["steps"], agent, lost))
    about = {
        key: document[key]
        for key in ("schema_version", "session_id", "final_metrics", "notes")
        if document.get(key)
    }
    after = document.get("continued_trajectory_ref")
    notes = [*lost, *([f"the trajectory goes on in {after}"] if after else [])]
    return ImportedRun(
        name=path.name.removesuffix(".json"),
        effects=effects,
        tags=(f"agent:{agent['name']}",) if agent.get("name") else (),
        output=last_answer(effects),
        source={
            "format": "atif",
            "file": str(path),
            "agent": {k: v for k, v in agent.items() if k != "tool_definitions"},
            **about,
        },
        notes=tuple(notes),
    )


def _effects(steps: list[Any], agent: dict[str, Any], lost: list[str]) -> Iterator[Happened]:
    history: list[dict[str, Any]] = []
    before = None
    copied = 0
    for step in (step for step in steps if isinstance(step, dict)):
        now = moment(step.get("timestamp"))
        source = str(step.get("source") or "user")
        if source != "agent" and source not in ASSISTANTS:
            history.append(
                {"role": "system" if source == "system" else "user", "content": content(step.get("message"))}
            )
            continue
        calls = [call for call in step.get("tool_calls") or () if isinstance(call, dict)]
        said = _answer(step, calls)
        if step.get("is_copied_context"):
            # Another trajectory has this step; here it is the model's history.
            copied += 1
        else:
            name = str(step.get("model_name") or agent.get("model_name") or "model")
            args: dict[str, Any] = {"messages": Seen(history)}
            if agent.get("tool_definitions"):
                args["tools"] = agent["tool_definitions"]
            yield Happened("model", name, args, said, began=before or now, ended=now)
        history.append(said)
        for made in _tools(calls, step, now):
            if not step.get("is_copied_context") and calls:
                yield made
            history.append(_told(made, calls))
        before = now or before
    if copied:
        lost.append(
            f"{copied} steps of the trajectory are copied from another one: they are only in the messages"
        )


def _answer(step: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": content(step.get("message"))}
    if step.get("reasoning_content"):
        said["reasoning_content"] = step["reasoning_content"]
    if calls:
        said["tool_calls"] = [
            {
                "id": str(call.get("tool_call_id") or ""),
                "type": "function",
                "function": {
                    "name": str(call.get("function_name") or ""),
                    "arguments": call.get("arguments"),
                },
            }
            for call in calls
        ]
    metrics = step.get("metrics") or {}
    if metrics.get("prompt_tokens") or metrics.get("completion_tokens"):
        said["usage"] = {
            "prompt_tokens": metrics.get("prompt_tokens"),
            "completion_tokens": metrics.get("completion_tokens"),
            "prompt_tokens_details": {"cached_tokens": metrics.get("cached_tokens") or 0},
        }
    return said


def _tools(calls: list[dict[str, Any]], step: dict[str, Any], now: Any) -> Iterator[Happened]:
    """Return a step's tools and results; results without a call come from the environment."""
    results = [
        item for item in (step.get("observation") or {}).get("results") or () if isinstance(item, dict)
    ]
    for call in calls:
        found = next(
            (item for item in results if item.get("source_call_id") == call.get("tool_call_id")), None
        )
        if found is not None:
            results.remove(found)
        args = call.get("arguments")
        value = content(found.get("content")) if found is not None else None
        yield Happened(
            "tool",
            str(call.get("function_name") or "tool"),
            by_name(args),
            value,
            began=now,
            ended=now,
        )
    for item in results:
        if item.get("content") is not None:
            yield Happened("tool", "environment", {}, content(item["content"]), began=now, ended=now)


def _told(made: Happened, calls: list[dict[str, Any]]) -> dict[str, Any]:
    if made.name == "environment" and not any(call.get("function_name") == "environment" for call in calls):
        return {"role": "user", "content": made.value}
    id = next(
        (str(call.get("tool_call_id") or "") for call in calls if call.get("function_name") == made.name), ""
    )
    return {"role": "tool", "tool_call_id": id, "content": made.value or ""}
