"""The paths in errors of redirected functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_NAMES = ("file", "path", "src", "dst")
"""The names of arguments that are paths."""


def name_paths(
    error: OSError,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    absolute: Callable[[Any], str | None],
    public: Callable[[str], str],
) -> None:
    """Let an error name a path as the program has given it, or as it knows it.

    Args:
        error: The error of a function in scratch.
        args: The arguments of the program's call.
        kwargs: Its named arguments.
        absolute: Returns the absolute path of a given one.
        public: Returns the path that the program knows for one in scratch.
    """
    given = [*args[:2], *(kwargs[name] for name in _NAMES if name in kwargs)]
    paths = [one for one in given if isinstance(one, (str, bytes, os.PathLike))]
    for attribute in ("filename", "filename2"):
        value = getattr(error, attribute)
        if isinstance(value, str):
            known = public(value)
            own = (os.fspath(one) for one in paths if os.path.normpath(absolute(one) or "") == known)
            setattr(error, attribute, next(own, known))
