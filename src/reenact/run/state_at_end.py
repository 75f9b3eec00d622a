"""The state of a process at its end: random generators, and how often its code has slept.

A thread that still runs at the end may be at another place in each run, so it is not compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from reenact.adapters.stdlib import entropy
from reenact.core.boundary import Run
from reenact.core.model.event import Tree

if TYPE_CHECKING:
    from reenact.core.replay.replayer import Replayer

_GENERATOR = "random@"
_NUMBER = re.compile(r"\.\d+(?=/|$)")
_MOST = 3
"""The number of differences of one kind that are named."""


def sealed(run: Run) -> dict[str, Tree]:
    """Return the members of a recording's last line. Call it before the run is over."""
    root = run.root.path
    slept: Counter[str] = Counter()
    for path, count in list(run.slept.items()):
        if _within(path, root):
            slept[_unnumbered(path)] += count
    ending: dict[str, Tree] = {"state": {**entropy.states(run)}, "slept": {**slept}}
    running = sorted(path for path in list(run.working) if _within(path, root))
    return {**ending, "running": running} if running else ending


def compare(run: Run, recorded: Mapping[str, Tree], replayer: Replayer) -> None:
    """Remark on differences between the state at the end of a replay and the recorded one."""
    states = recorded.get("state")
    if not isinstance(states, dict) or replayer.divergences or replayer.gone_live:
        return
    entropy.prepare(run, states)
    now = replayer.terms.clean(sealed(run))
    # Older recordings lack the counts, and the generators of code within tools.
    older = "slept" not in recorded
    running = {_unnumbered(path) for path in (*recorded.get("running", ()), *now.get("running", ()))}

    def comparable(path: str) -> bool:
        ran = "#" not in path or (not older and replayer.ran_inside(path))
        return ran and not any(_within(_unnumbered(path), other) for other in running)

    names = states.keys() & now["state"].keys() if older else _generators(states, now["state"])
    names = {name for name in names if comparable(name.partition("@")[2])}
    if names:
        replayer.compared.append("random generators")
    _remark(replayer, list(_of_generators(sorted(names), states, now["state"])))
    if not older and not replayer.let_live:
        _remark(replayer, list(_of_sleeps(recorded["slept"], now["slept"], comparable)))


def _generators(recorded: Mapping[str, Tree], now: Mapping[str, Tree]) -> set[str]:
    """Return the names to compare: a thread, task or tool without a generator drew nothing."""
    both = recorded.keys() & now.keys()
    return {name for name in {**recorded, **now} if name in both or name.startswith(_GENERATOR)}


def _of_generators(names: list[str], recorded: Mapping[str, Tree], now: Mapping[str, Tree]) -> Iterator[str]:
    for name in names:
        path = name.partition("@")[2]
        if name not in now:
            yield f"{path} drew random numbers when it was recorded, and none now"
        elif name not in recorded:
            yield f"{path} drew random numbers, and none when it was recorded"
        elif now[name] != recorded[name]:
            yield f"the state of the generator {name} at the end is not the recorded one"


def _of_sleeps(
    recorded: Mapping[str, Tree], now: Mapping[str, Tree], comparable: Callable[[str], bool]
) -> Iterator[str]:
    for path in sorted({**recorded, **now}):
        then, count = recorded.get(path, 0), now.get(path, 0)
        if then != count and comparable(path):
            yield f"{path} slept {_times(count)}, and {_times(then)} when it was recorded"


def _times(count: int) -> str:
    return "not at all" if not count else "once" if count == 1 else f"{count} times"


def _remark(replayer: Replayer, texts: list[str]) -> None:
    for text in texts[:_MOST]:
        replayer.remark(text)
    if len(texts) > _MOST:
        replayer.remark(f"{len(texts) - _MOST} more such differences at the end")


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def _unnumbered(path: str) -> str:
    """Return a path in which all threads, tasks and jobs of one name are the same."""
    return _NUMBER.sub("", path)
