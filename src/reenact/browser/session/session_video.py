"""`session.replay()`: a session's video at a signed address, as a file, or in a notebook."""

from __future__ import annotations

import base64
import html
import webbrowser
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from reenact.browser.camera.footage import Footage
from reenact.browser.video import Video, render
from reenact.browser.video.pace import Kind
from reenact.core import boundary, private
from reenact.core.store.local import home as store_home
from reenact.errors import UsageError

GOOD_FOR = 3600.0
"""Seconds for which an address is valid."""

INSIDE = 20_000_000
"""Most bytes of a video embedded in a notebook.

A larger one is loaded from its address while the program runs.
"""


@dataclass(frozen=True, slots=True)
class ReplayResponse:
    """A session's video.

    Attributes:
        mp4_url: Its signed address on this machine, valid until `expires_at` and while this program runs. Without an
            H.264 encoder, the address of a page that plays the session.
        expires_at: The expiry of the address.
        playlist_content: A playlist (extended M3U) with that address, for players that open one.
        video_start_ms: The moment of the session at which the video begins, in milliseconds since the session began.
        video_duration_ms: Its duration.
        video: The file, its chapters, and the map from its time to the session's.
    """

    mp4_url: str
    expires_at: datetime
    playlist_content: str
    video_start_ms: int
    video_duration_ms: int
    video: Video

    def download(self, path: str | Path) -> Path:
        """Copy the video to a file, or into a folder under its own name; return the file."""
        target = Path(path)
        if target.is_dir():
            target /= self.video.path.name
        with boundary.entered(None):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                private.copy(self.video.path, target)
            except OSError as error:
                raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
        return target

    def show(self) -> None:
        """Show the video in the notebook, or else in a browser; without either, print its address."""
        with boundary.entered(None):
            display = _notebook()
            if display is not None:
                display(self)
            elif not webbrowser.open(self.mp4_url):
                print(self.mp4_url)

    def _repr_html_(self) -> str:
        """Return the video as notebook HTML, embedded if it has at most `INSIDE` bytes."""
        data = self.video.path
        if data.suffix == ".html":
            return f'<a href="{html.escape(self.mp4_url)}">The session, as a page</a>'
        source = self.mp4_url
        if data.stat().st_size <= INSIDE:
            source = f"data:video/mp4;base64,{base64.b64encode(data.read_bytes()).decode()}"
        track = base64.b64encode(self.video.captions.read_bytes()).decode()
        width = min(self.video.size[0], 960)
        return (
            f'<video controls preload="metadata" width="{width}" src="{html.escape(source)}">'
            f'<track kind="captions" label="Steps" src="data:text/vtt;base64,{track}"></video>'
        )


def replay(
    source: Path | Footage,
    *,
    session: int = 1,
    pace: Kind = "real",
    mask: bool = True,
    home: Path | None = None,
    seconds: float = GOOD_FOR,
) -> ReplayResponse:
    """Return a session's video at a signed address; the session may run, have ended or crashed.

    Args:
        source: The recording's folder, or one session of it.
        session: The number of the folder's session, from 1.
        pace: `real` or `compact`.
        mask: True to cover secrets.
        home: The store's folder, whose key signs the address; by default $REENACT_HOME, or `.reenact`.
        seconds: The validity of the address.

    Raises:
        RecordingError: There is no such session, or its file cannot be read.
    """
    video = render(source, session=session, pace=pace, mask=mask)
    name = f"videos/{video.session}/{video.path.name}"
    with boundary.entered(None):
        # Imported here because few programs show a video.
        shelf = import_module("reenact.browser.session.file_server").shelf
        url, expires = shelf(home or store_home()).lend(name, video.path, seconds=seconds)
    return ReplayResponse(
        mp4_url=url,
        expires_at=expires,
        playlist_content=_playlist(url, video),
        video_start_ms=video.start_ms,
        video_duration_ms=video.duration_ms,
        video=video,
    )


def _playlist(url: str, video: Video) -> str:
    title = f"Browser session {video.session}".replace("\n", " ")
    return f"#EXTM3U\n#EXTINF:{video.duration_ms / 1000:.3f},{title}\n{url}\n"


def _notebook() -> Any:
    """Return IPython's display function in a notebook, else None."""
    try:
        shell = import_module("IPython").get_ipython()
        return (
            import_module("IPython.display").display
            if shell is not None and hasattr(shell, "kernel")
            else None
        )
    except (ImportError, AttributeError):
        return None
