"""Codex's session files (`rollout-….jsonl`): items of OpenAI's responses API, one a line.

A line is `{"timestamp", "type", "payload"}`; files of before September 2025 have the bare items. The items between two
inputs of the session are one answer of the model.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from reenact.analysis.interchange.importers.chat import last_answer, moment
from reenact.analysis.interchange.importers.file_acts import (
    FileAct,
    of_codex_changes,
    of_codex_patch,
    patch_of,
)
from reenact.analysis.interchange.importers.otel.span_message import messages
from reenact.analysis.interchange.importers.run import Happened, ImportedRun, Seen, Workspace, by_name
from reenact.core.messages.message_text import content
from reenact.core.model.plain import parsed

_LINES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_CALLS = {"function_call", "custom_tool_call", "local_shell_call", "web_search_call"}
_OUTPUTS = {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}
_APPLIED = "Success. Updated the following files"
"""The beginning of the answer of `apply_patch`."""
_ITEMS = {"message", "reasoning", *_CALLS, *_OUTPUTS}


def is_codex(document: Any) -> bool:
    """Return True for a session's lines, in today's envelope or bare."""
    if not isinstance(document, list):
        return False
    lines = [line for line in document if isinstance(line, dict)]
    if any(str(line.get("type")) in _LINES and isinstance(line.get("payload"), dict) for line in lines):
        return True
    first = lines[0] if lines else {}
    return (
        "instructions" in first
        and "id" in first
        and any(str(line.get("type")) in _ITEMS for line in lines[1:])
    )


def codex(document: Any, path: Path) -> ImportedRun:
    """Return the session's answers and tools as a run.

    The file lacks the tools that the model was offered, and parts of its instructions.
    """
    session = _Session()
    for line in document:
        if isinstance(line, dict):
            session.take(line)
    effects = list(session.finished())
    meta = session.meta
    known = {
        key: meta[key]
        for key in ("id", "cwd", "cli_version", "originator", "source", "git", "model_provider")
        if meta.get(key)
    }
    notes = ["a Codex session has neither the tools that the model was offered nor all of its instructions"]
    notes += (
        [f"the session was compacted {session.compacted} times: the model saw summaries after that"]
        if session.compacted
        else []
    )
    return ImportedRun(
        name=path.stem,
        effects=effects,
        tags=(f"conversation:{meta['id']}",) if meta.get("id") else (),
        output=last_answer(effects),
        source={"format": "codex", "file": str(path), **known},
        notes=tuple(notes),
        workspace=_workspace(meta),
    )


def _workspace(meta: dict[str, Any]) -> Workspace:
    git = meta["git"] if isinstance(meta.get("git"), dict) else {}
    branch, commit = str(git.get("branch") or ""), str(git.get("commit_hash") or "")
    return Workspace(str(meta.get("cwd") or ""), branch, commit)


class _Session:
    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.compacted = 0
        self._model = ""
        self._history: list[dict[str, Any]] = []
        self._said: list[dict[str, Any]] = []
        self._asked: list[tuple[dict[str, Any], datetime | None]] = []
        self._effects: list[Happened] = []
        self._answer: int | None = None
        self._patched: dict[str, Any] = {}
        """The changes of files in the log, by the id of the call."""
        self._before: datetime | None = None
        self._now: datetime | None = None
        self._spoke: datetime | None = None

    def take(self, line: dict[str, Any]) -> None:
        self._now = moment(line.get("timestamp")) or self._now
        kind, payload = line.get("type"), line.get("payload")
        if not isinstance(payload, dict):
            if kind in _ITEMS:
                self._item(line)
            elif "instructions" in line:
                self._begin(line)
        elif kind == "session_meta":
            self._begin(payload)
        elif kind == "turn_context":
            self._model = str(payload.get("model") or self._model)
        elif kind == "response_item":
            self._item(payload)
        elif kind == "compacted":
            self._compact(payload)
        elif kind == "event_msg" and payload.get("type") == "token_count":
            self._count(payload)
        elif kind == "event_msg" and payload.get("type") == "patch_apply_end" and payload.get("success"):
            self._patched[str(payload.get("call_id"))] = payload.get("changes")

    def _begin(self, meta: dict[str, Any]) -> None:
        self.meta = self.meta or meta
        told = meta.get("base_instructions") or meta.get("instructions")
        text = told.get("text") if isinstance(told, dict) else told
        if text and not self._history:
            self._history.append({"role": "system", "content": str(text)})

    def _compact(self, payload: dict[str, Any]) -> None:
        self._close()
        self.compacted += 1
        kept = payload.get("replacement_history")
        made = [one for item in kept for one in messages(item) or ()] if isinstance(kept, list) else None
        self._history = made or [{"role": "user", "content": str(payload.get("message") or "")}]

    def _item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind in _OUTPUTS:
            self._close()
            self._output(item)
        elif kind == "message" and item.get("role") != "assistant":
            self._close()
            self._history += messages(item) or ()
        else:
            if kind in _CALLS:
                item = _as_call(item)
                self._asked.append((item, self._now))
            self._said += messages(item) or ()
            self._spoke = self._now

    def _close(self) -> None:
        """Make an answer of the lines since the last input."""
        if not self._said:
            return
        texts = [text for one in self._said if (text := content(one.get("content")))]
        thoughts = [one["reasoning_content"] for one in self._said if one.get("reasoning_content")]
        calls = [call for one in self._said for call in one.get("tool_calls") or ()]
        whole: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or None}
        if thoughts:
            whole["reasoning_content"] = "\n".join(thoughts)
        if calls:
            whole["tool_calls"] = calls
        self._answer = len(self._effects)
        self._effects.append(
            Happened(
                "model",
                self._model or "model",
                {"messages": Seen(self._history)},
                whole,
                began=self._before or self._spoke,
                ended=self._spoke,
            )
        )
        self._history.append(whole)
        self._said = []
        self._before = self._spoke

    def _output(self, item: dict[str, Any]) -> None:
        id = item.get("call_id") or item.get("id")
        known = next((pair for pair in self._asked if pair[0].get("call_id") == id), None)
        call, began = known or ({}, self._now)
        if known:
            self._asked.remove(known)
        args = parsed(call.get("arguments", call.get("input")))
        told = item.get("output")
        inner = parsed(told)
        output = inner.get("output", told) if isinstance(inner, dict) else told
        text = output if isinstance(output, str) else content(output)
        about = inner.get("metadata") if isinstance(inner, dict) else None
        code = about.get("exit_code") if isinstance(about, dict) else None
        value = text if code is None else {"output": text, "exit_code": code}
        failed = isinstance(told, dict) and told.get("success") is False
        name, error = str(call.get("name") or "tool"), text if failed else None
        acts = self._acts(str(id or ""), by_name(args), text) if error is None and not code else ()
        self._effects.append(
            Happened("tool", name, by_name(args), value, error, began=began, ended=self._now, acts=acts)
        )
        self._history.append({"role": "tool", "tool_call_id": str(id or ""), "content": text})
        self._before = self._now

    def _acts(self, id: str, args: dict[str, Any], output: str) -> tuple[FileAct, ...]:
        """Return the acts of a tool on files: those in the log, else those of its patch."""
        if id in self._patched:
            return of_codex_changes(self._patched.pop(id))
        text = patch_of(args)
        acts = of_codex_patch(text) if text and _APPLIED in output else ()
        folder = str(args.get("workdir") or "")
        return tuple(
            replace(act, path=posixpath.join(folder, act.path), to=act.to and posixpath.join(folder, act.to))
            for act in acts
        )

    def _count(self, payload: dict[str, Any]) -> None:
        """Take the tokens of the last answer, which come in a line after it."""
        self._close()
        info = payload.get("info")
        last = info.get("last_token_usage") if isinstance(info, dict) else None
        if not isinstance(last, dict) or self._answer is None:
            return
        effect = self._effects[self._answer]
        effect.value["usage"] = {
            "prompt_tokens": last.get("input_tokens") or 0,
            "completion_tokens": last.get("output_tokens") or 0,
            "prompt_tokens_details": {"cached_tokens": last.get("cached_input_tokens") or 0},
        }

    def finished(self) -> Iterator[Happened]:
        self._close()
        yield from self._effects


def _as_call(item: dict[str, Any]) -> dict[str, Any]:
    """Return a call of a built-in tool (a shell, a search) as a call of a function."""
    if item.get("type") in ("function_call", "custom_tool_call"):
        return item
    name = str(item["type"]).removesuffix("_call")
    action = item.get("action")
    return {
        "type": "function_call",
        "call_id": item.get("call_id") or item.get("id"),
        "name": name,
        "arguments": action or {},
    }
