"""Store videos in the recording's folder, named by their contents: each is made once."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from dataclasses import replace
from pathlib import Path

from reenact.browser.camera.footage import Footage
from reenact.browser.video.finished_video import Video
from reenact.core.store.local import home
from reenact.errors import RecordingError, UsageError

FOLDER = "videos"
"""Folder inside a recording's folder.

Its files may be deleted at any time, and are not exported.
"""

_KEPT = 3
"""Videos kept for one session and options: a running session gets a new one at each request."""

_BLOCK = 1 << 20


def place(footage: Footage, options: str, label: str, suffix: str) -> Path:
    """Return a video's path, named by session, options and a hash of the session's file so far."""
    digest = hashlib.sha256(options.encode())
    try:
        with footage.path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise RecordingError(f"{footage.path}: {error.strerror}") from None
    recording = footage.path.parent
    # The video of a read-only recording is kept in this machine's store.
    folder = recording / FOLDER if os.access(recording, os.W_OK) else home() / FOLDER / recording.name
    return folder / f"{footage.path.stem}-{label}-{digest.hexdigest()[:16]}{suffix}"


def forget(kept: Path) -> None:
    """Remove older videos of the same session and options."""
    family = kept.name.rsplit("-", 1)[0]
    alike = kept.parent.glob(f"{family}-{'?' * 16}{kept.suffix}")
    for old in sorted(alike, key=lambda path: path.stat().st_mtime_ns, reverse=True)[_KEPT:]:
        for path in (old, *beside(old)):
            path.unlink(missing_ok=True)


def beside(path: Path) -> tuple[Path, Path]:
    """Return the paths of a video's captions and manifest."""
    return path.with_suffix(".vtt"), path.with_suffix(".json")


def copied(video: Video, target: Path) -> Video:
    """Copy a video to another place, with the suffix of its own format."""
    path = target.with_suffix(video.path.suffix)
    captions, _ = beside(path)
    try:
        for source, copy in ((video.path, path), (video.captions, captions)):
            part = unfinished(copy)
            try:
                shutil.copy2(source, part)
                part.replace(copy)
            finally:
                part.unlink(missing_ok=True)
        moved = replace(video, path=path, captions=captions)
        moved.keep()
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from None
    return moved


def unfinished(path: Path) -> Path:
    """Create a temporary file (mode 0600, unique name) that later replaces the final one."""
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part")
    part.touch(mode=0o600)
    return part
