"""Where videos are kept: in the recording's folder, by what they show, so that each is made once."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from dataclasses import replace
from pathlib import Path

from reenact.browser.camera.footage import Footage
from reenact.browser.video.made import Video
from reenact.core.store.local import home
from reenact.errors import RecordingError, UsageError

FOLDER = "videos"
"""In a recording's folder. What is in it can be deleted at any time, and is not exported."""

_KEPT = 3
"""Videos of one session and options that stay: while it goes on, each look at it makes another."""

_BLOCK = 1 << 20


def place(footage: Footage, options: str, label: str, suffix: str) -> Path:
    """Where a video stands: named by the session, the options and all that is in the session's file so far."""
    digest = hashlib.sha256(options.encode())
    try:
        with footage.path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise RecordingError(f"{footage.path}: {error.strerror}") from None
    recording = footage.path.parent
    # A recording that may only be read, on another's disk: beside one's own.
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
    """The captions and the manifest that belong to a video."""
    return path.with_suffix(".vtt"), path.with_suffix(".json")


def copied(video: Video, target: Path) -> Video:
    """The same at another place, under the suffix of what it is."""
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
    """A file that becomes that one when it is whole: as private as the store, and of no other's name."""
    part = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.part")
    part.touch(mode=0o600)
    return part
