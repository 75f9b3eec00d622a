"""Session logs of coding agents, and repositories with commits at given times, for the tests."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGAN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(second: float) -> str:
    return (BEGAN + timedelta(seconds=second)).isoformat().replace("+00:00", "Z")


class GitFolder:
    """A repository whose commits have times."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-b", "main")

    def git(self, *words: str, second: float = -100) -> str:
        when = str(int((BEGAN + timedelta(seconds=second)).timestamp())) + " +0000"
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
               (("NAME", "a"), ("EMAIL", "a@b"), ("DATE", when))}  # fmt: skip
        environ = {**os.environ, **who, "GIT_CONFIG_GLOBAL": "/dev/null"}
        done = subprocess.run(["git", *words], cwd=self.path, env=environ, check=True, capture_output=True)
        return done.stdout.decode()

    def commit(self, second: float, **files: str | bytes | None) -> str:
        """Write these files (`__` for `/`, `_dot_` for `.`), or delete them, and commit all."""
        for name, text in files.items():
            path = self.path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-Af")
        self.git("commit", "--allow-empty", "-m", "work", second=second)
        return self.git("rev-parse", "HEAD").strip()


class ClaudeLog:
    """A session of Claude Code: each tool takes a second from an even one on."""

    def __init__(self, folder: str, branch: str = "main") -> None:
        self._about = {"sessionId": "s", "cwd": folder, "gitBranch": branch, "version": "2.1.1"}
        self.lines = [self._line("user", "begin", 0)]
        self._second = 2

    def _line(self, role, content, second, **more):
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {
                "id": f"m{second}",
                "model": "claude-x",
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        return {"type": role, "timestamp": at(second), "message": message, **self._about, **more}

    def tool(self, name, args, result, text="done", *, failed=False):
        """Add a call of a tool: two steps, the answer of the model and the tool."""
        second, id = self._second, f"t{self._second}"
        self._second += 2
        use = {"type": "tool_use", "id": id, "name": name, "input": args}
        back = {
            "type": "tool_result",
            "tool_use_id": id,
            "content": text,
            **({"is_error": True} if failed else {}),
        }
        self.lines.append(self._line("assistant", [use], second))
        self.lines.append(self._line("user", [back], second + 1, toolUseResult=result))
        return self

    def edit(self, path, before, old, new, **more):
        result = {"filePath": path, "oldString": old, "newString": new, "originalFile": before,
                  "structuredPatch": [], "replaceAll": False, "userModified": False, **more}  # fmt: skip
        return self.tool("Edit", {"file_path": path, "old_string": old, "new_string": new}, result)

    def create(self, path, text):
        result = {
            "type": "create",
            "filePath": path,
            "content": text,
            "originalFile": None,
            "structuredPatch": [],
        }
        return self.tool("Write", {"file_path": path, "content": text}, result)

    def read(self, path, text):
        lines = text.count("\n") + 1
        file = {"filePath": path, "content": text, "numLines": lines, "startLine": 1, "totalLines": lines}
        return self.tool("Read", {"file_path": path}, {"type": "text", "file": file}, text)

    def bash(self, command, stdout="", *, code=0):
        result = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        text = f"Exit code {code}\n{stdout}" if code else stdout
        return self.tool(
            "Bash", {"command": command}, f"Error: {text}" if code else result, text, failed=bool(code)
        )

    def write(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


def codex_log(path: Path, folder: str, items, **git) -> Path:
    """Write a session of Codex with these items of the responses API and events, a second each."""
    meta = {"id": "c", "cwd": folder, "cli_version": "1", "git": git}
    lines = [{"timestamp": at(0), "type": "session_meta", "payload": meta}]
    for second, (kind, payload) in enumerate(items, 1):
        lines.append({"timestamp": at(second), "type": kind, "payload": payload})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
