"""Start the recorder in each Python under Reenact, before its program: `reenact.run.child`.

It removes its own folder from the path, first runs the `sitecustomize` that would run without it, and does nothing in a
program that is not to join.
"""

import os
import sys


def _others(name: str, folder: str) -> None:
    """Run the user's own module of this name, which this one hides."""
    import importlib.util
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, [path for path in sys.path if os.path.abspath(path) != folder])
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    ours = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if ours is not None:
            sys.modules[name] = ours
        raise


class _Finder:
    """Finds Reenact and its requirements, after all else, in a Python without them."""

    def __init__(self, folders: "dict[str, str]") -> None:
        self._folders = folders

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        """Find a module for the import system."""
        from importlib.machinery import PathFinder

        folder = self._folders.get(name)
        return PathFinder.find_spec(name, [folder]) if folder is not None else None


def _join(text: str) -> None:
    import json

    plan = json.loads(text)
    if sys.version_info < (3, 11):  # noqa: UP036 - any Python may be started under Reenact
        version = ".".join(map(str, sys.version_info[:2]))
        _give_up(plan, f"Reenact needs Python 3.11 or newer, and {sys.executable} is {version}")
        return
    try:
        if plan["python"] == ".".join(map(str, sys.version_info[:2])):
            sys.meta_path.append(_Finder(plan["modules"]))  # type: ignore[arg-type]
        from reenact.run import child as bootstrap

        if "REENACT_PROBE" in os.environ:
            os._exit(86)
    except Exception as error:
        # Not installed in that Python, or a requirement is too old there.
        _give_up(
            plan, f"{sys.executable} cannot import Reenact ({error}); install it there: pip install reenact"
        )
        return
    bootstrap.begin()


def _join_without_collections(text: str) -> None:
    """Join without garbage collections; exclude the objects that are made from later ones.

    Searching the imported modules would take a quarter of a short program's processor time under Reenact.
    """
    import gc

    collects = gc.isenabled()
    gc.disable()
    try:
        _join(text)
    finally:
        gc.freeze()
        if collects:
            gc.enable()


def _give_up(plan: "dict[str, str]", text: str) -> None:
    import json

    if "REENACT_PROBE" in os.environ:
        os._exit(1)
    try:
        with open(os.path.join(plan["report"], "failed.json"), "w", encoding="utf-8") as file:
            json.dump({"failed": text}, file)
    except OSError:
        sys.stderr.write(f"reenact: {text}\n")
    if plan["mode"] != "record":
        # A program that is to be answered from a recording must not run for real.
        os._exit(2)


def _main() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != folder]
    text = os.environ.get("REENACT_JOIN") or os.environ.get("REENACT_RUN")
    seen = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if text is None and folder in seen:
        os.environ["PYTHONPATH"] = os.pathsep.join(path for path in seen if path != folder)
    try:
        _others(__name__, folder)
    finally:
        if text is not None:
            _join_without_collections(text)


_main()
