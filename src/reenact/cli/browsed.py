"""What a browser session's step gave, in a few lines: the whole of it stands in `reenact show ID STEP`."""

from __future__ import annotations

from typing import Any

from reenact.cli.present import many
from reenact.prose.values import pretty


def told(output: Any) -> list[tuple[str, str]]:
    """What to show of an action's or observation's outcome: labels and texts; nothing where it is neither."""
    if not isinstance(output, dict):
        return []
    place = f"{output.get('title') or '(no title)'}  {output.get('url', '')}"
    if "actor" in output and "message" in output:
        who = "" if output["actor"] == "script" else f" ({output['actor']})"
        # A failed one is told as its step's error.
        lines = [("did", f"{output['message']}{who}")] if output.get("error") is None else []
        data = output.get("data")
        if data is not None and data != output["message"]:
            lines.append(("data", data if isinstance(data, str) else repr(data)))
        return [*lines, ("at", place)] if output.get("url") else lines
    if "tree" in output and "elements" in output:
        return [
            ("saw", f"{place}, {many(len(output['elements']), 'element')} to act on"),
            ("tree", str(output["tree"])),
        ]
    if output.keys() == {"value", "url", "tab"}:
        return [("gave", pretty(output["value"]))]
    return []
