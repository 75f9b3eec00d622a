"""Actions of an agent in its browser and its files, one effect of kind `tool` each.

An action that a recording answers does not run. Its effects on the agent (files that it wrote, tokens that it spent on
a model of its own) are in the next prompt, so they are recorded and applied.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from reenact.adapters.browser_use import absence, registered_models
from reenact.adapters.scopes import listening
from reenact.core.boundary import aperform
from reenact.core.model.event import Effect

_LEFT = "_reenact_left"
"""The attribute of an exception with the side effects of a failed action."""

_spent: ContextVar[list[dict[str, Any]] | None] = ContextVar("reenact_browser_use_spent", default=None)


def hooked(original: Any) -> Any:
    """`Registry.execute_action`, which runs all actions, built in or the program's own."""
    signature = inspect.signature(original)

    async def execute_action(self: Any, *args: Any, **options: Any) -> Any:
        if (scope := listening()) is None:
            return await original(self, *args, **options)
        given = signature.bind(self, *args, **options).arguments
        name, params = given["action_name"], given["params"]
        browser = given.get("browser_session")
        wire = _Result(given)

        async def live() -> Any:
            wire.live = True
            if browser is not None:
                await absence.revived(browser, scope)
            return await _run(wire, lambda: original(self, *args, **options))

        try:
            return await aperform(Effect("tool", name, dict(params)), live, wire)
        except Exception as error:
            if not wire.live:
                wire.put(vars(error).get(_LEFT) or {})
            raise

    return execute_action


async def _run(wire: _Result, run: Any) -> Any:
    spending = _spent.set([])
    acting = absence.acting.set(True)
    try:
        result = await run()
    except Exception as error:
        if left := wire.left():
            setattr(error, _LEFT, left)
        raise
    else:
        wire.kept = wire.left()
        return result
    finally:
        absence.acting.reset(acting)
        _spent.reset(spending)


def hooked_usage(original: Any) -> Any:
    """Hook `TokenCost.add_usage`: a replay counts an action's model tokens without the calls."""

    def add_usage(self: Any, model: str, usage: Any) -> Any:
        entry = original(self, model, usage)
        spent = _spent.get()
        if spent is not None:
            spent.append(
                {"model": model, "usage": usage.model_dump(exclude_none=True), "at": entry.timestamp}
            )
        return entry

    return add_usage


class _Result:
    """The wire of one action's result, and of its effects on the agent."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.live = False
        self.kept: dict[str, Any] = {}
        self._files = given.get("file_system")
        self._llm = given.get("page_extraction_llm")
        self._before = _seen(self._files)

    def dump(self, value: Any, /) -> Any:
        """Return the fields that were set; other values than browser-use's results unchanged."""
        fields = getattr(value, "model_fields_set", None)
        if type(value).__name__ != "ActionResult" or fields is None:
            tree = {"value": value}
        else:
            tree = {name: getattr(value, name) for name in type(value).model_fields if name in fields}
        return {**tree, "left": self.kept} if self.kept else tree

    def load(self, value: Any, /) -> Any:
        """Rebuild the result; set the agent's files and counts as the action left them."""
        self.put(value.pop("left", None) or {})
        if "value" in value:
            return value["value"]
        from browser_use.agent.views import ActionResult

        return ActionResult.model_validate({k: v for k, v in value.items() if k in ActionResult.model_fields})

    def left(self) -> dict[str, Any]:
        """Return the changes of the agent's state since the action began."""
        left: dict[str, Any] = {}
        now = _seen(self._files)
        if self._files is not None and now != self._before:
            memory, disk, count = now
            old_memory, old_disk, _ = self._before
            left["files"] = {name: item for name, item in memory.items() if old_memory.get(name) != item}
            left["gone"] = sorted(old_memory.keys() - memory.keys())
            left["extracted"] = count
            fresh = [name for name, mark in disk.items() if old_disk.get(name) != mark and name not in memory]
            folder = self._files.get_dir()
            left["disk"] = {name: (folder / name).read_bytes() for name in fresh}
            left = {name: item for name, item in left.items() if item}
        if spent := _spent.get():
            left["spent"] = list(spent)
        return left

    def put(self, left: dict[str, Any]) -> None:
        """Apply the recorded effects of the action to the agent."""
        files = self._files
        if files is not None and left.keys() & {"files", "gone", "disk", "extracted"}:
            for name in left.get("gone", ()):
                files.files.pop(name, None)
            for name, item in left.get("files", {}).items():
                kind = files._get_file_type_class(name.rpartition(".")[2])
                files.files[name] = kind(**item)
                files.files[name].sync_to_disk_sync(files.get_dir())
            for name, data in left.get("disk", {}).items():
                (files.get_dir() / name).write_bytes(data)
            files.extracted_content_count = left.get("extracted", files.extracted_content_count)
        counter = registered_models.counters.get(id(self._llm))
        if counter is None:
            return
        for one in left.get("spent", ()):
            counter.add_usage(one["model"], registered_models.usage(one["usage"])).timestamp = one["at"]


_Seen = tuple[dict[str, Any], dict[str, tuple[int, int]], int]


def _seen(files: Any) -> _Seen:
    """Return an agent's files: their contents as it knows them, and marks of those on disk."""
    if files is None:
        return {}, {}, 0
    memory = {name: file.model_dump() for name, file in files.files.items()}
    return memory, _marks(files.get_dir()), files.extracted_content_count


def _marks(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_file():
            about = path.stat()
            found[path.name] = about.st_size, about.st_mtime_ns
    return found
