"""Sockets: their reads, their ports, and the host name."""

from __future__ import annotations

from types import ModuleType

from reenact.adapters import reads
from reenact.adapters.concurrency import replace
from reenact.adapters.stdlib import ports, unseen


def install(module: ModuleType) -> None:
    """Patch sockets, once: `socket` has been imported."""
    if getattr(module.socket.recv, "_reenact", False):
        return
    reads.install_in_sockets(replace, module.socket)
    unseen.install_in_sockets(module)
    ports.install(unseen.chosen_port)
