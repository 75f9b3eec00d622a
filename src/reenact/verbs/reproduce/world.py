"""Send the reading requests of a recording again, never the writing ones."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage, HTTPResponse
from time import time
from typing import IO
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from reenact.analysis.world import RepeatedQuestion, Reply, compare
from reenact.core.model.plain import binary
from reenact.core.query.facts import RecordingFacts, StepFacts
from reenact.core.query.recorded_run import RecordedRun
from reenact.core.store.local import LocalStore
from reenact.core.trust import consent
from reenact.errors import Mismatch

READING = ("GET", "HEAD")
"""The methods that are asked again. All others might write."""

_SECRET = re.compile(r"\[\[secret:[a-z0-9\-]+:[0-9a-f]{8}\]\]")
_OURS = ("accept-encoding", "connection", "content-length", "host", "transfer-encoding", "upgrade")
_MOST = 4 << 20
_SKEW = 60


def check_world(
    recording: RecordedRun,
    *,
    patience: float = 20.0,
    home: str | os.PathLike[str] | None = None,
    run_foreign: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[RepeatedQuestion]:
    """Send each recorded GET and HEAD again, once, and compare. Replaced secrets are not sent.

    Args:
        recording: The recording with the requests.
        patience: The time limit of each, in seconds.
        home: The folder of the recordings.
        run_foreign: Send the requests of a foreign recording, too.
        progress: Called with a line for each.

    Raises ForeignRecording where the recording comes from elsewhere: its addresses may be inside of this network.
    """
    consent.check(recording, LocalStore(home).root, run_foreign=run_foreign)
    asked: dict[tuple[str, str], list[StepFacts]] = {}
    for facts in RecordingFacts(recording):
        method = str(facts.args.get("method") or "").upper() if facts.call.kind == "http" else ""
        if method in READING and facts.call.outcome is not None:
            asked.setdefault((method, str(facts.args.get("url") or "")), []).append(facts)
    found = []
    for (method, url), steps in asked.items():
        found.append(_again(method, url, steps, patience))
        if progress is not None:
            progress(f"{found[-1].label}: {found[-1].change}")
    return found


def _again(method: str, url: str, steps: list[StepFacts], patience: float) -> RepeatedQuestion:
    # The present answer is compared with the newest recorded one.
    last, numbers = steps[-1], tuple(facts.step.number for facts in steps)
    recorded = _recorded(last)
    headers = {str(k): str(v) for k, v in (last.args.get("headers") or {}).items() if k.lower() not in _OURS}
    left_out = tuple(sorted(name for name, value in headers.items() if _SECRET.search(value)))
    sent = {name: value for name, value in headers.items() if name not in left_out}

    def result(change: str, detail: str = "", mismatches: tuple[Mismatch, ...] = ()) -> RepeatedQuestion:
        return RepeatedQuestion(numbers, last.call.name, change, detail, mismatches, left_out)

    if _SECRET.search(url):
        return result("not asked", "its address holds a secret, which was replaced when it was recorded")
    if not url.lower().startswith(("http://", "https://")):
        return result("not asked", f"{url[:60]} is not a web address")
    if recorded is None:
        return result("not asked", "the recorded answer was an error, or came as a stream")
    try:
        now, skew = _send(method, url, sent, patience)
    except (OSError, HTTPException, ValueError) as error:
        return result("not answered", f"{type(error).__name__}: {error}")
    change, detail, mismatches = compare(recorded, now, credentials=not left_out)
    if abs(skew) > _SKEW:
        clock = f"its clock is {abs(skew):.0f} s {'ahead of' if skew > 0 else 'behind'} this machine's"
        detail = f"{detail}; {clock}" if detail else clock
    return result(change, detail, mismatches)


def _recorded(facts: StepFacts) -> Reply | None:
    outcome = facts.call.outcome
    head = outcome.get("value") if outcome is not None else None
    if not isinstance(head, dict) or not isinstance(head.get("status"), int):
        return None
    headers = {str(key).lower(): str(value) for key, value in head.get("headers") or ()}
    kind = headers.get("content-type", "")
    if "event-stream" in kind or ("content-encoding" in headers and not head.get("decoded")):
        return None
    pieces = [binary(facts.step.log.filled(tree)) for _, _, tree in facts.call.pieces]
    body = None if None in pieces else b"".join(piece or b"" for piece in pieces)[:_MOST]
    return Reply(head["status"], kind, _text(body))


class _NoRedirects(HTTPRedirectHandler):
    """Does not follow redirections: the request that one leads to was recorded separately."""

    def redirect_request(  # noqa: PLR0917 - its own signature
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def _send(method: str, url: str, headers: Mapping[str, str], patience: float) -> tuple[Reply, float]:
    """Return the answer, and the seconds by which the server's clock is ahead."""
    request = Request(url, headers={**headers, "Accept-Encoding": "identity"}, method=method)  # noqa: S310 - http only
    try:
        response: HTTPResponse | HTTPError = build_opener(_NoRedirects).open(request, timeout=patience)
    except HTTPError as error:
        response = error
    with response:
        body = response.read(_MOST)
        given = response.headers
        skew = 0.0
        if given.get("Date") and not given.get("Age"):
            try:
                skew = parsedate_to_datetime(given["Date"]).timestamp() - time()
            except ValueError:
                skew = 0.0
        return Reply(int(response.status or 0), given.get("Content-Type", ""), _text(body)), skew


def _text(body: bytes | None) -> str | None:
    try:
        return body.decode() if body is not None else None
    except UnicodeDecodeError:
        return None
