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
"""The console's pages as `make console` builds them, and as a wheel has them."""

TOKEN = "REENACT_METRICS_TOKEN"  # noqa: S105 - a variable's name
"""The variable with the token by which metrics may be read over the network."""

_SHORT = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server.

    Attributes:
        home: The folder of the recordings of the project `default`; other projects lie in its folder `projects`.
        hosts: The names that a request may be addressed to (`localhost`), without ports; one with another name in its
            `Host` header is refused, so that no page elsewhere reaches a server of this machine by a name of its own.
            Literal addresses (`127.0.0.1`) need not be among them: a page elsewhere cannot make them mean this server.
        keyless: Requests without a key have all rights; on loopback only.
        running: Programs of recordings may be started (reproduce, fork, verify, debug).
        run_foreign: Programs of foreign recordings may be started, too.
        console: The folder of the console's pages.
        team: The team's store in use, if any.
        limits: The limits of a recording and of a project, where the recordings are kept here.
        rate: Requests a second for one key, or for one address without a key; 0 for no limit.
        reach: The machines that pages of browser sessions may be opened from.
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

    Raises UsageError for one that can be guessed.
    """
    token = environ.get(TOKEN, "").strip()
    if token and len(token) < _SHORT:
        raise UsageError(f"{TOKEN} has {len(token)} characters; at least {_SHORT}, of `openssl rand -hex 16`")
    return token
