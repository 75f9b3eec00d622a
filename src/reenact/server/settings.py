"""How a server is set up: what `reenact serve` and `reenact console` give it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """How a server is set up.

    Attributes:
        home: The folder of the recordings of the project `default`; other projects lie in its folder `projects`.
        hosts: The names that a request may be addressed to (`127.0.0.1:8090`); one with another name in its `Host`
            header is refused, so that no page elsewhere reaches a server of this machine by a name of its own.
        keyless: Whether who has no key may do all there is: on loopback alone.
        running: Whether programs of recordings may be started (reproduce, fork, verify, debug).
    """

    home: Path
    hosts: tuple[str, ...]
    keyless: bool = False
    running: bool = False
