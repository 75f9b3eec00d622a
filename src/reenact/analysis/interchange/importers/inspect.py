"""Inspect's logs, `.eval` (a zip) or `.json`: one run for each sample and epoch.

The events of a sample have each model call and each tool with its times; a log without events has the sample's
messages. Long texts are stored once in the sample (attachments), and are put back.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from reenact.analysis.interchange.importers.chat import effects_of, last_answer, moment
from reenact.analysis.interchange.importers.otel.span_message import call
from reenact.analysis.interchange.importers.run import DEEPEST, Happened, ImportedRun, Stretch, by_name
from reenact.core.messages.message_text import content
from reenact.core.store.reading import unreadable
from reenact.core.unpack import Archive, capacity
from reenact.errors import NotARecording, RecordingError

_ASIDE = re.compile(r"(?:attachment|tc)://([0-9a-f]+)")
_LIMIT = 1 << 30
_TOLD = ("name", "description", "parameters")


def is_inspect(document: Any) -> bool:
    """Return True for a log: its evaluation, and its samples."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and "samples" in document


def archive(data: bytes, path: Path) -> Any:
    """Return the log in an `.eval` file with its samples, as its JSON. Raises NotARecording."""
    try:
        with Archive(io.BytesIO(data), str(path), _LIMIT) as files:
            names = files.names
            head = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            if head is None:
                raise NotARecording(f"{path} is a zip file, but no log of Inspect: it has no header.json")
            log = orjson.loads(files.read(head))
            if not isinstance(log, dict):
                raise NotARecording(f"{path} is a zip file, but no log of Inspect: its {head} is no object")
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            log["samples"] = [orjson.loads(files.read(name)) for name in sorted(samples)]
    except RecordingError:
        raise
    except unreadable() as error:
        raise NotARecording(f"{path} is a damaged zip file ({error})") from None
    except ValueError as error:
        raise NotARecording(f"{path} holds damaged JSON ({error})") from None
    return log


class _Aside:
    """The attached texts of a sample, to be put back where they are named.

    Args:
        sample: The sample.
        room: The characters that may be put back in the whole log, as a list of one number.
    """

    def __init__(self, sample: dict[str, Any], room: list[int]) -> None:
        told = sample.get("transcript")
        before = told.get("content") if isinstance(told, dict) else None
        self._texts: dict[str, Any] = {**(before or {}), **(sample.get("attachments") or {})}
        self._room = room

    def whole(self, value: Any) -> Any:
        """Return a value with the texts put back. Raises ValueError for too much text."""
        if isinstance(value, str):
            found = _ASIDE.fullmatch(value)
            text = self._texts.get(found[1]) if found else None
            if not isinstance(text, str):
                return value
            self._room[0] -= len(text)
            if self._room[0] < 0:
                raise ValueError("its attachments stand for more text than the limit here")
            return text
        if isinstance(value, list):
            return [self.whole(item) for item in value]
        if isinstance(value, dict):
            return {key: self.whole(item) for key, item in value.items()}
        return value


def inspect(document: Any, path: Path) -> list[ImportedRun]:
    """Return a run for each sample that asked a model or ran a tool."""
    found, room = [], [capacity(path.stat().st_size, _LIMIT)]
    for sample in document["samples"] or ():
        if isinstance(sample, dict):
            run = _run(sample, document, path, _Aside(sample, room))
            if run.effects:
                found.append(run)
    return found


def _run(sample: dict[str, Any], log: dict[str, Any], path: Path, aside: _Aside) -> ImportedRun:
    about = log["eval"]
    effects, notes = _effects(sample, aside, str(about.get("model") or ""))
    scores = {
        name: score.get("value") if isinstance(score, dict) else score
        for name, score in (sample.get("scores") or {}).items()
    }
    problem = _problem(sample, scores)
    told = (f"{name}:{value}" for name, value in scores.items() if isinstance(value, (str, int, float)))
    epoch = sample.get("epoch") or 1
    name = f"{about.get('task') or path.stem} {sample.get('id')}"
    return ImportedRun(
        name=name + (f" epoch {epoch}" if epoch != 1 else ""),
        effects=effects,
        tags=(f"task:{about.get('task')}", f"sample:{sample.get('id')}", *told),
        status="error" if problem else "ok",
        problem=problem,
        output=last_answer(effects) or _completion(sample),
        source={
            "format": "inspect",
            "file": str(path),
            "epoch": epoch,
            "input": aside.whole(sample.get("input")),
            "scores": scores,
            **{key: sample.get(key) for key in ("id", "target")},
            **{key: about.get(key) for key in ("model", "created")},
        },
        notes=notes,
        overlapping=True,
    )


def _effects(sample: dict[str, Any], aside: _Aside, model: str) -> tuple[list[Happened], tuple[str, ...]]:
    told = sample.get("transcript")
    events = sample.get("events") or (told.get("events") if isinstance(told, dict) else None)
    found = list(_events(aside.whole(events or [])))
    if found:
        return found, ()
    messages = [
        _message(item) for item in aside.whole(sample.get("messages") or []) if isinstance(item, dict)
    ]
    note = "the log was written without its events: calls are read from the messages, and have no times"
    return list(effects_of(messages, model=model)), (note,)


def _problem(sample: dict[str, Any], scores: dict[str, Any]) -> str:
    failed = sample.get("error")
    if isinstance(failed, dict):
        return str(failed.get("message") or "the sample failed")
    wrong = [name for name, value in scores.items() if value in ("I", 0, 0.0)]
    return f"scored wrong by {', '.join(wrong)}" if wrong else ""


def _completion(sample: dict[str, Any]) -> Any:
    output = sample.get("output")
    listed = output.get("choices") if isinstance(output, dict) else None
    return content((listed[0].get("message") or {}).get("content")) or None if listed else None


def _events(events: list[Any]) -> Iterator[Happened]:
    """Yield model and tool events in the order of their start, each with the agent of its spans."""
    spans: dict[str, dict[str, Any]] = {}
    made: list[Happened] = []
    agents: dict[str, Stretch] = {}
    for event in events:
        if not isinstance(event, dict):
            continue
        if event.get("event") == "span_begin":
            spans[str(event.get("id"))] = event
        elif event.get("event") in ("model", "tool"):
            made.append(
                _model(event, spans, agents) if event["event"] == "model" else _tool(event, spans, agents)
            )
    yield from sorted(made, key=lambda item: item.began.timestamp() if item.began else 0.0)


def _within(
    event: dict[str, Any], spans: dict[str, dict[str, Any]], agents: dict[str, Stretch]
) -> Stretch | None:
    id: Any = event.get("span_id")
    climbed = 0
    while id in spans:
        climbed += 1
        if climbed > DEEPEST:
            raise ValueError(f"spans are nested more than {DEEPEST} deep")
        span = spans[id]
        if span.get("type") in ("agent", "scorer"):
            if id not in agents:
                outer = _within({"span_id": span.get("parent_id")}, spans, agents)
                agents[id] = Stretch(str(span.get("name") or "agent"), outer)
            return agents[id]
        id = span.get("parent_id")
    return None


def _model(event: dict[str, Any], spans: dict[str, Any], agents: dict[str, Stretch]) -> Happened:
    given = event.get("output")
    output: dict[str, Any] = given if isinstance(given, dict) else {}
    value = _completed(output)
    config = {key: item for key, item in (event.get("config") or {}).items() if key != "max_connections"}
    args: dict[str, Any] = {
        "model": event.get("model"),
        "messages": [_message(item) for item in event.get("input") or () if isinstance(item, dict)],
        **config,
    }
    tools = [
        {"type": "function", "function": {key: tool[key] for key in _TOLD if key in tool}}
        for tool in event.get("tools") or ()
        if isinstance(tool, dict)
    ]
    if tools:
        args |= {"tools": tools, "tool_choice": event.get("tool_choice")}
    error = event.get("error") or (output.get("error") if value is None else None)
    began, ended = moment(event.get("timestamp")), moment(event.get("completed"))
    if ended is None and began is not None:
        ended = began + timedelta(seconds=output.get("time") or event.get("working_time") or 0)
    return Happened(
        "model", str(event.get("model") or "model"), args, value, str(error) if error else None,
        began=began, ended=ended, within=_within(event, spans, agents),
    )  # fmt: skip


def _completed(output: dict[str, Any]) -> dict[str, Any] | None:
    """Return Inspect's output as a chat completion; None without an answer."""
    choices = [
        {
            "index": place,
            "message": _message(one.get("message") or {}),
            "finish_reason": one.get("stop_reason"),
        }
        for place, one in enumerate(output.get("choices") or ())
        if isinstance(one, dict)
    ]
    value: dict[str, Any] = {"object": "chat.completion", "model": output.get("model"), "choices": choices}
    if usage := output.get("usage"):
        # Inspect counts cached tokens apart from the input.
        given = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
        value["usage"] = {
            "prompt_tokens": sum(usage.get(name) or 0 for name in given),
            "completion_tokens": usage.get("output_tokens") or 0,
            "prompt_tokens_details": {"cached_tokens": usage.get("input_tokens_cache_read") or 0},
        }
    return value if choices else None


def _tool(event: dict[str, Any], spans: dict[str, Any], agents: dict[str, Stretch]) -> Happened:
    name, args = str(event.get("function") or "tool"), by_name(event.get("arguments"))
    error = event.get("error") if isinstance(event.get("error"), dict) else None
    began = moment(event.get("timestamp"))
    return Happened(
        "tool", name, args, event.get("result"),
        f"{error.get('type') or 'error'}: {error.get('message') or ''}" if error else None,
        began=began, ended=moment(event.get("completed")) or began, within=_within(event, spans, agents),
    )  # fmt: skip


def _message(item: dict[str, Any]) -> dict[str, Any]:
    """Convert a message to OpenAI's form: tool calls name a function, thoughts are parts."""
    found = {key: item[key] for key in ("role", "content", "tool_call_id") if item.get(key) is not None}
    if isinstance(found.get("content"), list):
        thoughts = [
            part for part in found["content"] if isinstance(part, dict) and part.get("type") == "reasoning"
        ]
        found["content"] = [part for part in found["content"] if part not in thoughts]
        if thoughts:
            found["reasoning_content"] = "\n".join(
                str(part.get("reasoning") or part.get("summary") or "") for part in thoughts
            )
    if item.get("tool_calls"):
        found["tool_calls"] = [
            call({"id": one.get("id"), "name": one.get("function"), "arguments": one.get("arguments")})
            for one in item["tool_calls"]
            if isinstance(one, dict)
        ]
    if item.get("function") and item.get("role") == "tool":
        found["name"] = item["function"]
    if isinstance(item.get("error"), dict):
        found["is_error"] = True
    return {"role": "assistant", "content": "", **found}
