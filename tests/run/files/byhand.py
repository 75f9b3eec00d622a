"""Recordings with files, made without the recorder of files: the program states them itself."""

from __future__ import annotations

import hashlib

PRELUDE = '''
import os
from pathlib import Path

import reenact
from reenact.core.boundary import current, entered


def state(name):
    path = Path(name)
    if path.is_symlink():
        return {"kind": "link", "mode": 0o777, "target": os.readlink(path)}
    if path.is_dir():
        return {"kind": "folder", "mode": path.stat().st_mode & 0o7777}
    if not path.exists():
        return {"kind": "none"}
    return {"kind": "file", "mode": path.stat().st_mode & 0o7777, "size": path.stat().st_size, "data": path.read_bytes()}


def say(how, call, *names, **given):
    """Write an entry of files into the recording; nothing in a replay."""
    handler = current().run.handler
    if type(handler).__name__ != "Recorder":
        return
    with entered(None):
        states = {**{name: state(name) for name in names}, **given}
        for each in states.values():
            if "data" in each:
                each["blob"] = handler._writer.blob(each.pop("data"))
    handler.stamped({"event": "files", "how": how, "call": call, "root": os.getcwd(), "states": states})


@reenact.tool
def ask(question):
    return f"answer to {question}"
'''


def tree(folder):
    """What lies in a folder, without the home of recordings: by name, kind, mode and digest."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.partition("/")[0] in ("home", "__pycache__"):
            continue
        status = path.lstat()
        if path.is_symlink():
            found[name] = "link", str(path.readlink())
        elif path.is_dir():
            found[name] = "folder", status.st_mode
        else:
            found[name] = "file", status.st_mode, hashlib.sha256(path.read_bytes()).hexdigest()
    return found
