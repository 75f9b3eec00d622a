"""The debugger on a terminal's whole screen (Textual): `reenact debug ID`."""

from reenact.tui.app import Debugger, run

__all__ = ["Debugger", "run"]
