"""A server's video of a session: its signed address, and its download."""

from __future__ import annotations

import html
import webbrowser
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reenact.browser.effects.calls import Steps
from reenact.browser.session.remote.link import Server
from reenact.core import boundary, private
from reenact.errors import SessionError, UsageError

if TYPE_CHECKING:
    from reenact.browser.effects.driver import BrowserDriver
    from reenact.browser.session.remote.browser import RemoteBrowser


@dataclass(frozen=True, slots=True)
class RemoteReplay:
    """A session's video on a server.

    Attributes:
        mp4_url: Its signed address, valid until `expires_at` and without a key.
        expires_at: The expiry of the address.
        playlist_content: A playlist (extended M3U) with that address.
        video_start_ms: The moment of the session at which the video begins, in milliseconds since the session began.
        video_duration_ms: Its duration.
    """

    mp4_url: str
    expires_at: datetime
    playlist_content: str
    video_start_ms: int
    video_duration_ms: int

    def download(self, path: str | Path) -> Path:
        """Download the video to a file, or into a folder under its own name; return the file.

        Raises:
            UsageError: The file cannot be written.
            SessionError: The server refuses, for instance because the address has expired.
        """
        import httpx  # noqa: PLC0415 - sessions of this machine need none

        target = Path(path)
        if target.is_dir():
            target /= Path(httpx.URL(self.mp4_url).path).name
        near = Server(self.mp4_url).near
        # The download is no effect of the recorded program.
        with boundary.entered(None):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with (
                    httpx.Client(timeout=60, trust_env=not near) as http,
                    http.stream("GET", self.mp4_url) as answer,
                ):
                    if answer.status_code != httpx.codes.OK:
                        raise SessionError(f"the video is not given: status {answer.status_code}")
                    with open(target, "wb", opener=private.opener) as file:
                        file.writelines(answer.iter_bytes())
            except httpx.HTTPError as error:
                raise SessionError(f"the video is not given: {str(error) or type(error).__name__}") from None
            except OSError as error:
                raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
        return target

    def show(self) -> None:
        """Show the video in a browser; without one, print its address."""
        with boundary.entered(None):
            if not webbrowser.open(self.mp4_url):
                print(self.mp4_url)

    def _repr_html_(self) -> str:
        return f'<video controls preload="metadata" width="960" src="{html.escape(self.mp4_url)}"></video>'


def replay_of(there: RemoteBrowser, driver: BrowserDriver, **options: Any) -> Steps[RemoteReplay]:
    """Return the video of a server's session, running or ended. Raises SessionError."""
    try:
        return _read((yield driver.call(lambda: there.ask("GET", _path(options)))))
    finally:
        if not there.up:
            yield from driver.stop("it was stopped")


def _path(options: dict[str, Any]) -> str:
    if not options["mask"]:
        raise UsageError("replay(mask=False): a server gives no picture of what is secret")
    return f"replay?pace={options['pace']}"


def _read(answer: dict[str, Any]) -> RemoteReplay:
    return RemoteReplay(
        mp4_url=answer["mp4_url"],
        expires_at=datetime.fromisoformat(answer["expires_at"]),
        playlist_content=answer["playlist_content"],
        video_start_ms=answer["video_start_ms"],
        video_duration_ms=answer["video_duration_ms"],
    )
