"""`video`: draw a browser session as a video."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, ClassVar

from reenact.browser.camera import footage
from reenact.browser.video import Video, render
from reenact.browser.video.pace import Kind
from reenact.core.dataclass import dataclass
from reenact.core.store import bundle
from reenact.core.store.local import LocalStore
from reenact.errors import UsageError
from reenact.verbs import interface, marks
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context
from reenact.verbs.marks import LOCAL, Cli, Ref, WireType


class Options(interface.Options):
    """Make a video of a browser session, with a caption for each step and its element marked.

    It is made from the recording, at any time: during the session, after a crash, and again with other options.
    Captions (.vtt) and the times of the steps (.json) are written beside it.

    [bold]reenact video last -o failure.mp4 --pace compact[/bold]
    """

    common: ClassVar = (marks.HOME,)

    ref: Ref
    output: Annotated[
        Path | None,
        Field(
            description="NAME.mp4, or NAME.html for a page that plays by itself; by default ID.mp4 here.",
        ),
        Cli(names=("--output", "-o")),
        LOCAL,
    ] = None
    pace: Annotated[
        Kind,
        Field(
            description="real: the recorded times; compact: idle time shortened, a pause before each action."
        ),
        marks.ANYONE,
    ] = "real"
    session: Annotated[
        int | None,
        Field(ge=1, description="The number of the browser session, if the recording has several."),
        WireType(of=int, default=1, ge=1),
    ] = None
    mask: Annotated[bool, Field(description="Cover passwords, card numbers and one-time codes.")] = True
    force: Annotated[bool, Field(description="Replace an existing file."), LOCAL, marks.NEVER] = False


@dataclass(frozen=True)
class Result(interface.Result):
    """The video.

    Attributes:
        id: The recording.
        video: The files of the video, and its chapters.
        target: The requested file; if this machine cannot encode H.264, the video is a page beside it.
        unchosen: The number of the recording's sessions, if there are others and none was chosen; else 0.
    """

    id: str
    video: Video
    target: Path
    unchosen: int

    def tree(self) -> dict[str, Any]:
        """Return the length and the start of the video as JSON values."""
        return {
            "duration_ms": self.video.duration_ms,
            "start_ms": self.video.start_ms,
            "lost": self.video.lost,
        }


def run(options: Options, context: Context) -> Result:
    """Draw the video. Raises RecordingError, or UsageError for a file that is in the way."""
    number = options.session or 1
    with folder_of(context.store, options.ref) as folder:
        target = options.output or Path(f"{folder.name}.mp4")
        if options.output is None and context.files is not None:
            target = context.files / f"{folder.name}-{number}.mp4"
        for path in {target, *(target.with_suffix(suffix) for suffix in (".vtt", ".json"))}:
            if path.exists() and not options.force:
                raise UsageError(f"{path} exists; --force replaces it")
        there = len(footage.sessions(folder))
        made = render(
            folder,
            target,
            session=number,
            pace=options.pace,
            mask=options.mask,
            progress=lambda done, total: context.progress("drawing", done, total),
        )
        return Result(folder.name, made, target, there if there > 1 and options.session is None else 0)


@contextmanager
def folder_of(store: LocalStore, ref: str) -> Iterator[Path]:
    """Yield the recording's folder; an exported file is unpacked into a temporary one."""
    source = store.find(ref)
    if source.is_dir():
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="reenact-") as name:
        unpacked = LocalStore(name)
        yield unpacked.folder(bundle.bring(unpacked, source))
