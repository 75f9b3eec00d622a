"""What happens to a program: recorded, forked, and, its provider switched off, replayed. Once for all cells."""

from __future__ import annotations

import fcntl
import json
from dataclasses import asdict, dataclass
from pathlib import Path

import reenact
from tests.conftest import Done, Shell

EDITED = -40
"""The temperature that every framework's `edit` puts in the place of Tokyo's."""


@dataclass
class Story:
    """One framework's runs, as they were, for the cells to look at.

    Attributes:
        said: The texts that the model answered while the program was recorded; `said_forked`, in the fork.
        requests: How many requests the model had got while the program was recorded.
        met: Whether the provider was asked for both cities' weather at once.
        step: The step that the fork begins at.
    """

    home: str
    key: str
    recorded: Done
    said: list[str]
    requests: int
    met: bool
    parent: str
    step: int = 0
    forked: Done | None = None
    child: str = ""
    said_forked: tuple[str, ...] = ()
    replayed: Done | None = None

    @property
    def recording(self):
        """What was recorded."""
        return reenact.load(self.parent, home=self.home)

    @property
    def fork(self):
        """The fork's own recording."""
        return reenact.load(self.child, home=self.home)


def tell(framework, folder):
    """Record the framework's program, fork it, stop its provider, and replay it."""
    provider = framework.serve()
    try:
        shell = Shell(folder)
        shell.environ |= provider.environ
        recorded, recording = framework.record(shell)
        story = Story(
            home=str(shell.home),
            key=provider.key,
            recorded=recorded,
            said=list(provider.said),
            requests=sum(not path.startswith(("/weather", "/rate")) for path in provider.asked),
            met=provider.met,
            parent=recording.id,
        )
        if framework.version not in framework.refused:
            fork(framework, shell, story)
            story.said_forked = provider.said[len(story.said) :]
        provider.stop()
        story.replayed = shell.run("replay", story.parent)
    finally:
        provider.stop()
    return story


def weather(framework, recording):
    """The steps that ask for the weather, by the city's name."""
    return {
        city: step
        for step in framework.tools(recording, "weather")
        for city in ("Paris", "Tokyo")
        if city in str(step.args)
    }


def fork(framework, shell, story):
    """Fork the program where it hears of Tokyo's weather, with another temperature. No fork where it never asked."""
    found = weather(framework, story.recording).get("Tokyo")
    if found is not None:
        story.step = found.number
        story.forked = shell.run(
            "fork",
            story.parent,
            "--at",
            story.step,
            "--set",
            framework.edit,
            "--policy",
            "rate=live",
            "--policy",
            "websocket=live",
        )
        story.child = shell.last().id


def told(framework, folder):
    """The same, once for all processes that share a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "story.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(asdict(tell(framework, folder))))
    data = json.loads(kept.read_text())
    for name in ("recorded", "forked", "replayed"):
        data[name] = data[name] and Done(**data[name])
    return Story(**data)


def run(story, *words):
    """Run `reenact` where the story's recordings are."""
    return Shell(Path(story.home).parent).run(*words)
