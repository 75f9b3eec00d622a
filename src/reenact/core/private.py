"""Files with recorded content: only their owner may read them."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from reenact.core import system


def opener(path: str, flags: int) -> int:
    """Create a file that others cannot read, as the `opener` of `open`."""
    return os.open(path, flags | system.CLOEXEC, 0o600)


def folder(path: Path) -> None:
    """Make a folder, and each missing one above it, that others cannot read. Raises OSError."""
    missing = []
    above = path.parent
    while not above.exists() and above != above.parent:
        missing.append(above)
        above = above.parent
    for each in (*reversed(missing), path):
        each.mkdir(mode=0o700, exist_ok=True)


def write(path: Path, content: bytes | str) -> None:
    """Write a file that others cannot read, whole or not at all.

    An existing file is replaced, and its mode too; a terminal, a pipe or a device is written to. In a text,
    a character that UTF-8 cannot hold becomes `?`. Raises OSError, which names the file.
    """
    data = content.encode(errors="replace") if isinstance(content, str) else content
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    part = target.with_name(f".{target.name[:200]}.{system.random_hex(4)}.part")
    try:
        with open(part, "xb", opener=opener) as file:
            file.write(data)
        part.replace(target)
    except OSError as error:
        # A message must not name the partial file.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):
            part.unlink()


def copy(source: Path, target: Path) -> None:
    """Copy a file to one that others cannot read; an existing one keeps its mode.

    Raises OSError.
    """
    with source.open("rb") as reading, open(target, "wb", opener=opener) as writing:
        shutil.copyfileobj(reading, writing)
