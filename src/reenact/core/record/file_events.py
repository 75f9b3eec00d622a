"""Write the states of files as events of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reenact.core.files.keeping import FileKeeper
from reenact.core.files.states import FileState
from reenact.core.files.trees import UNKNOWN, How
from reenact.core.model.event import Tree
from reenact.core.record.places import Place

Write = Callable[[dict[str, Tree]], object]

_STATES = 1000
"""The maximum number of states of one event."""

_WITH_TEXT = 100
"""The same, where some of them have the text of a file."""


class FileEvents:
    """Writes the states of paths, without secrets in their names.

    Args:
        keeper: Finds the secrets.
        write: Writes an event.
        last: Returns the number of the last call, or None.
        now: Returns the seconds since the recording began.
    """

    def __init__(
        self, keeper: FileKeeper, write: Write, last: Callable[[], int | None], now: Callable[[], float]
    ) -> None:
        self._keeper, self._write, self._last, self._now = keeper, write, last, now
        self._looked = 0.0

    def look(self) -> None:
        """Take the time before a look at files.

        A change by another process during the look counts as later.
        """
        self._looked = self._now()

    def write(
        self,
        how: How,
        states: Mapping[Place, FileState],
        *,
        call: int | None = None,
        within: int | None = UNKNOWN,
        since: float | None = None,
    ) -> None:
        """Write the states that some paths have.

        Args:
            how: The occasion.
            states: The states.
            call: The number of the command's call at whose end they were seen; by default they were seen after the last
                call.
            within: The call whose code made them.
            since: The time by which the paths, or their absence, had been seen before they changed.
        """
        more: dict[str, Tree] = {} if within == UNKNOWN else {"within": within}
        if since is not None:
            more["since"] = since
        if call is not None:
            more["ended"] = True
        by_root: dict[tuple[str, bool], dict[str, Tree]] = {}
        for place, state in states.items():
            name, tree = place.name, state.to_tree()
            if (clean := self._keeper.clean_names((name, state.target, *(state.names or ())))) is not None:
                name, tree["target"], *tree["names"] = clean
                tree = FileState.from_tree(tree, name).to_tree()
            by_root.setdefault((place.root, place.single), {})[name] = tree
        for (root, single), trees in by_root.items():
            alone: dict[str, Tree] = {"single": True} if single else {}
            names: Sequence[str] = list(trees)
            most = _WITH_TEXT if any("text" in tree for tree in trees.values()) else _STATES
            for start in range(0, len(names), most):
                some = {name: trees[name] for name in names[start : start + most]}
                number = self._last() if call is None else call
                self._write(
                    {
                        "event": "files",
                        "call": number,
                        "how": how,
                        "root": root,
                        **alone,
                        **more,
                        "states": some,
                        # The state before the run was seen by now, and no change of this process comes before.
                        "t": self._now() if how == "first" else self._looked,
                    }
                )
