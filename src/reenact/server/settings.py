"""The settings of a server, from `reenact serve` and `reenact console`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reenact.browser.isolation.addresses import PUBLIC, Reach
from reenact.core.store.quotas import IntakeLimits
from reenact.errors import UsageError
from reenact.team.location import TeamPlace

CONSOLE = Path(__file__).parent / "console"
"""The console's pages, which `make console` builds, and wheels contain."""

TOKEN = "REENACT_METRICS_TOKEN"  # noqa: S105 - a variable's name
"""The environment variable with the token that allows to read metrics over the network."""

_SHORT = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server.

    Attributes:
        home: The folder of the recordings of the project `default`; other projects are in its folder `projects`.
        hosts: The allowed names in the `Host` header (`localhost`), without ports. Other names are refused, so that no
            foreign page can use its own name for a server on this machine. Literal addresses (`127.0.0.1`) are always
            allowed, because a foreign page cannot redirect them.
        keyless: True if requests without a key have all rights; only on loopback.
        running: True if programs of recordings may be started (reproduce, fork, verify, debug).
        run_foreign: True if programs of foreign recordings may be started, too.
        console: The folder of the console's pages.
        team: The team's store in use, if any.
        limits: The limits of a recording and of a project, if the recordings are stored here.
        rate: Most requests a second for one key, or for one address without a key; 0 for no limit.
        reach: The machines whose pages browser sessions may open.
        metrics_token: The token for reading metrics without a key; empty for none.
    """

    home: Path
    hosts: tuple[str, ...]
    keyless: bool = False
    running: bool = False
    run_foreign: bool = False
    console: Path = CONSOLE
    team: TeamPlace | None = None
    limits: IntakeLimits = field(default_factory=IntakeLimits)
    rate: float = 0.0
    reach: Reach = PUBLIC
    metrics_token: str = field(default="", repr=False)


def token_of(environ: Mapping[str, str]) -> str:
    """Return the token in the environment; empty if unset.

    Raises UsageError if it is too short.
    """
    token = environ.get(TOKEN, "").strip()
    if token and len(token) < _SHORT:
        raise UsageError(f"{TOKEN} has {len(token)} characters; at least {_SHORT}, of `openssl rand -hex 16`")
    return token
