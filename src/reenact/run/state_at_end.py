"""The state of a process at its end: random generators, given times, unreceived messages.

A thread that still runs at the end may be at another place in each run, so it is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from reenact.adapters.stdlib import entropy
from reenact.core.boundary import Run
from reenact.core.model.event import Tree, unnumbered

if TYPE_CHECKING:
    from reenact.core.replay.replayer import Replayer

_GENERATOR = "random@"
_MOST = 3
"""The number of differences of one kind that are named."""


def sealed(run: Run) -> dict[str, Tree]:
    """Return the state's members of a recording's last line. Call it before the end of the run."""
    root = run.root.path
    ending: dict[str, Tree] = {
        "state": {**entropy.states(run)},
        "slept": _summed(run.times.slept, root),
        "times": _summed(run.times.sums(), root),
        "limits": _limits(run, root),
        "sent": _summed(run.unreceived.sent(), root),
        "signals": _summed(run.unreceived.signals(), root),
        "left": {name: left for name, left in run.unreceived.left().items() if _within(_maker(name), root)},
    }
    running = sorted(path for path in list(run.working) if _within(path, root))
    return {**ending, "running": running} if running else ending


def _summed(counts: Mapping[str, int], root: str) -> dict[str, Tree]:
    """Return the sums over all threads, tasks and jobs of one name."""
    found: Counter[str] = Counter()
    for path, count in list(counts.items()):
        if _within(path, root):
            found[unnumbered(path)] += count
    return {**found}


def _limits(run: Run, root: str) -> dict[str, Tree]:
    """Return the sums of the limits of calls, by the scope and the limit's name."""
    found: Counter[str] = Counter()
    for (path, name), total in list(run.times.limits.items()):
        if _within(path, root):
            found[f"{unnumbered(path)}~{name}"] += total
    return {**found}


def compare(run: Run, recorded: Mapping[str, Tree], replayer: Replayer) -> None:
    """Remark on differences between the state at the end of a replay and the recorded one."""
    states = recorded.get("state")
    if not isinstance(states, dict) or replayer.divergences or replayer.gone_live:
        return
    entropy.prepare(run, states)
    now = replayer.terms.clean(sealed(run))
    # Older recordings lack the counts, and the generators of code within tools.
    older = "slept" not in recorded
    running = {unnumbered(path) for path in (*recorded.get("running", ()), *now.get("running", ()))}

    def comparable(path: str) -> bool:
        ran = "#" not in path or (not older and replayer.tools.ran_inside(path))
        return ran and not any(_within(unnumbered(path), other) for other in running)

    names = states.keys() & now["state"].keys() if older else _generators(states, now["state"])
    names = {name for name in names if comparable(name.partition("@")[2])}
    if names:
        replayer.compared.append("random generators")
    _remark(replayer, list(_of_generators(sorted(names), states, now["state"])))
    if not older and not replayer.real.counts:
        further = _summed(run.times.further, run.root.path)
        _remark(
            replayer, list(_of_times(recorded, now, lambda path: path not in further and comparable(path)))
        )
        replayer.uncompared += _of_limits(recorded, now, comparable)
        _remark(replayer, list(_of_sleeps(recorded["slept"], now["slept"], further, comparable)))
        for path in filter(comparable, sorted(further)):
            replayer.uncompared.append(f"further sleeps of {path}, while a process of the program ran")
        _compare_messages(replayer, recorded, now, comparable, steady=not running)


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
    recorded: Mapping[str, Tree],
    now: Mapping[str, Tree],
    further: Mapping[str, Tree],
    comparable: Callable[[str], bool],
) -> Iterator[str]:
    for path, then, count in _differing(recorded, now, comparable):
        # Of the further sleeps, some may be recorded ones that had no end.
        if not count <= then <= count + further.get(path, 0):
            yield f"{path} slept {_times(count)}, and {_times(then)} when it was recorded"


def _of_times(
    recorded: Mapping[str, Tree], now: Mapping[str, Tree], comparable: Callable[[str], bool]
) -> Iterator[str]:
    """Name the scopes that gave other times, except those that slept more or less often."""
    for path, then, count in _differing(recorded.get("times"), now["times"], comparable):
        if recorded["slept"].get(path) == now["slept"].get(path):
            given, before = f"{count / 1e6:g} s in all", f"{then / 1e6:g} s"
            yield f"{path} gave its sleeps and time limits {given}, and {before} when it was recorded"


def _of_limits(
    recorded: Mapping[str, Tree], now: Mapping[str, Tree], comparable: Callable[[str], bool]
) -> Iterator[str]:
    """Name the scopes whose calls have other time limits, which a replay does not apply."""

    def ended(key: str) -> bool:
        return comparable(key.rpartition("~")[0])

    alike: dict[tuple[str, int, int], list[str]] = {}
    for key, then, count in _differing(recorded.get("limits"), now["limits"], ended):
        path, _, name = key.rpartition("~")
        alike.setdefault((path, then, count), []).append(name)
    for (path, then, count), names in alike.items():
        several = "s" if names[1:] else ""
        what = f"the time limit{several} {', '.join(names)}" if names != ["timeout"] else "the time limits"
        given = f"{count / 1e6:g} s in all, and {then / 1e6:g} s when it was recorded"
        yield f"{what} of the calls of {path} ({given}): no limit ends a recorded answer"


def _compare_messages(
    replayer: Replayer,
    recorded: Mapping[str, Tree],
    now: Mapping[str, Tree],
    comparable: Callable[[str], bool],
    *,
    steady: bool,
) -> None:
    """Compare the messages that were left in queues, or sent to other processes.

    Args:
        replayer: Gets the remarks.
        recorded: The last line of the recording.
        now: The same of this run.
        comparable: Returns True for a scope whose work has ended in both.
        steady: No thread ran at the end, which might have taken messages.
    """
    sent = _differing(recorded.get("sent"), now["sent"], comparable)
    _remark(
        replayer,
        [f"{path} sent other messages to processes than when it was recorded" for path, _, _ in sent],
    )
    signals = _differing(recorded.get("signals"), now["signals"], comparable)
    _remark(
        replayer,
        [f"{path} sent other signals to its processes than when it was recorded" for path, _, _ in signals],
    )
    left = list(_of_queues(recorded.get("left"), now["left"], comparable))
    if left and (replayer.tools.answered or not steady):
        why = "threads still ran" if not steady else "a tool did not run"
        replayer.uncompared.append(f"messages that were left in queues ({why})")
    else:
        _remark(replayer, left)


def _of_queues(
    recorded: Mapping[str, Tree] | None, now: Mapping[str, Tree], comparable: Callable[[str], bool]
) -> Iterator[str]:
    if recorded is None:
        return
    for name in sorted({**recorded, **now}):
        path = _maker(name)
        then, left = recorded.get(name, {"count": 0}), now.get(name, {"count": 0})
        if then == left or not comparable(path):
            continue
        one = left["count"] == 1
        what = "1 message was" if one else f"{left['count']} messages were"
        others = f"{then['count']}" if then["count"] != left["count"] else "another" if one else "others"
        yield f"{what} left in a queue that {path} made, and {others} when it was recorded"


def _maker(queue: str) -> str:
    """Return the path of the scope that made a queue."""
    return queue.rpartition("~")[0]


def _differing(
    recorded: Mapping[str, int] | None, now: Mapping[str, int], comparable: Callable[[str], bool]
) -> Iterator[tuple[str, int, int]]:
    """Yield the scopes with another number than recorded; none if the recording has no numbers."""
    for path in sorted({**recorded, **now}) if recorded is not None else ():
        then, count = recorded.get(path, 0), now.get(path, 0)  # type: ignore[union-attr]
        if then != count and comparable(path):
            yield path, then, count


def _times(count: int) -> str:
    return "not at all" if not count else "once" if count == 1 else f"{count} times"


def _remark(replayer: Replayer, texts: list[str]) -> None:
    for text in texts[:_MOST]:
        replayer.remark(text)
    if len(texts) > _MOST:
        replayer.remark(f"{len(texts) - _MOST} more such differences at the end")


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")
