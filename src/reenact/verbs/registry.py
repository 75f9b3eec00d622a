"""All verbs, one line each, in the order of `reenact --help`.

A verb's module is imported when it is used.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, cast

from reenact.core.dataclass import dataclass

if TYPE_CHECKING:
    from reenact.verbs.interface import Module


@dataclass(frozen=True)
class Verb:
    """A verb.

    Attributes:
        name: The name of the command, and the kind of the job.
        path: The name of its module.
        job: The server runs it as a job.
        routes: The server has routes that run it: `ROUTES` of its module.
        extra: The extra whose packages it needs.
    """

    name: str
    path: str
    job: bool = False
    routes: bool = False
    extra: str = ""

    @cached_property
    def module(self) -> Module:
        """Its `Options` and `run`, imported now."""
        return cast("Module", import_module(self.path))


VERBS = [
    Verb("record", "reenact.verbs.record"),
    Verb("replay", "reenact.verbs.replay"),
    Verb("list", "reenact.verbs.list"),
    Verb("show", "reenact.verbs.show", routes=True),
    Verb("files", "reenact.verbs.files", routes=True),
    Verb("diff", "reenact.verbs.diff", routes=True),
    Verb("label", "reenact.verbs.label"),
    Verb("doctor", "reenact.verbs.doctor"),
    Verb("export", "reenact.verbs.export", job=True),
    Verb("import", "reenact.verbs.import_"),
    Verb("rm", "reenact.verbs.rm"),
    Verb("prune", "reenact.verbs.prune"),
    Verb("fsck", "reenact.verbs.fsck"),
    Verb("push", "reenact.verbs.push", extra="team"),
    Verb("pull", "reenact.verbs.pull", extra="team"),
    Verb("sync", "reenact.verbs.sync", extra="team"),
    Verb("ship", "reenact.verbs.ship", extra="ship"),
    Verb("harden", "reenact.verbs.harden", extra="browser"),
    Verb("heals", "reenact.verbs.heals", routes=True, extra="browser"),
    Verb("export-script", "reenact.verbs.export_script", extra="browser"),
    Verb("fork", "reenact.verbs.fork", job=True),
    Verb("resume", "reenact.verbs.resume"),
    Verb("diagnose", "reenact.verbs.diagnose", job=True),
    Verb("video", "reenact.verbs.video", job=True, extra="browser"),
    Verb("keep", "reenact.verbs.keep", job=True),
    Verb("prove", "reenact.verbs.prove"),
    Verb("reproduce", "reenact.verbs.reproduce.verb", job=True),
    Verb("bisect", "reenact.verbs.bisect", job=True),
    Verb("report", "reenact.verbs.report", job=True),
    Verb("verify", "reenact.verbs.verify.verb", job=True),
]
