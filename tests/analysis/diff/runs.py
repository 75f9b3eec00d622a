"""Recordings made of a few words, in memory."""

from __future__ import annotations

from reenact.core.model.event import Event
from reenact.core.model.log import Log
from reenact.core.query.recorded_run import RecordedRun


def step(label, value=None, *, at="main", within=None, error=None, t=None, took=0.5, **args):
    """One effect: what was asked, and what came."""
    kind, _, name = label.partition(":")
    return {
        "kind": kind, "name": name, "args": args, "value": value, "at": at, "in": within, "error": error,
        "t": t, "took": took,
    }  # fmt: skip


def chat(said, answer, *, calls=(), usage=None, model="gpt-4o", **more):
    """A model call in OpenAI's form: the messages that were sent, and the answer."""
    messages = [{"role": role, "content": text} for role, text in said]
    asked = [
        {"id": f"id{n}", "function": {"name": name, "arguments": args}}
        for n, (name, args) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": answer, "tool_calls": asked}
    value = {"choices": [{"message": message}], "usage": usage}
    return step(f"model:{model}", value, messages=messages, **more)


def run(*steps, id="run", status="ok", output=None, program=None, error=None):
    """A recording of these steps, one after the other unless they say when."""
    lines = [{"event": "opened", "id": id, "process": "main", "program": program, "started": ""}]
    counted: dict[tuple[str, str], int] = {}
    now = 0.0
    ends = []
    for number, one in enumerate(steps, 1):
        key = one["at"], f"{one['kind']}:{one['name']}"
        counted[key] = counted.get(key, -1) + 1
        began = now if one["t"] is None else one["t"]
        called = {key: one[key] for key in ("kind", "name", "args", "at", "in")}
        lines.append({"event": "called", "call": number, **called, "n": counted[key], "t": began})
        end = {"call": number, "t": began + one["took"]}
        if one["error"] is None:
            ends.append({"event": "returned", "value": one["value"], **end})
        else:
            tree = {"type": "builtins:ValueError", "text": one["error"], "args": []}
            ends.append({"event": "raised", "error": tree, **end})
        now = max(now, end["t"])
    lines += ends
    sealed = {"event": "sealed", "status": status, "t": now}
    if output is not None:
        sealed["output"] = output
    if error is not None:
        sealed["error"] = {"type": "builtins:ValueError", "text": error, "args": []}
    lines.append(sealed)
    events = [Event(line["event"], line, number) for number, line in enumerate(lines, 1)]
    return RecordedRun(id, [Log(events, lambda _: b"")], f"/nowhere/{id}")


def told(diff):
    """Each pair on one line: `changed 2 3 args.q`."""
    return [
        " ".join(
            [
                pair.kind.value,
                str(pair.a.number if pair.a else "-"),
                str(pair.b.number if pair.b else "-"),
                *(difference.path for difference in pair.differences),
            ]
        )
        for pair in diff.pairs
    ]
