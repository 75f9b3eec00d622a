"""Orders of jobs: the verbs of the command line, with their options."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
"""A recording's full id: no prefix, and no path."""

Text = Annotated[str, StringConstraints(max_length=10_000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Words = Annotated[list[Word], Field(max_length=100)]
Seconds = Annotated[float, Field(gt=0, le=3600)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Rerunning(_Strict):
    """How a program is run again: what runs for real, what need not match, and for how many seconds at most."""

    live: Words = []
    ignore: Words = []
    timeout: Seconds = 120.0


class ReproduceOptions(Rerunning):
    """As `reenact reproduce` has them."""

    times: int = Field(default=5, ge=1, le=100)
    check_world: bool = False


class VerifyOptions(Rerunning):
    """As `reenact verify` has them."""

    entry: str = Field(default="", max_length=200)
    workers: int = Field(default=0, ge=0, le=64)
    on_divergence: Literal["raise", "realign", "live"] = "raise"
    timeout: Seconds = 60.0


class ForkOptions(_Strict):
    """As `reenact fork` has them: the step that is the first to be live, and what is other from there on."""

    at: int = Field(ge=1)
    set: Annotated[list[Text], Field(max_length=100)] = []
    model: str = Field(default="", max_length=200)
    live: Words = []
    ignore: Words = []


class BisectOptions(Rerunning):
    """As `reenact bisect` has them. `check` is a shell command; without one, good is the output of the good run."""

    good: Id
    check: Text = ""
    exact: bool = False
    trials: int = Field(default=40, ge=1, le=10_000)


class VideoOptions(_Strict):
    """As `reenact video` has them."""

    session: int = Field(default=1, ge=1)
    pace: Literal["real", "compact"] = "real"
    mask: bool = True


class ReportOptions(_Strict):
    """As `reenact report` has them. With `times`, `check` or `check_world` programs and requests are made again."""

    format: Literal["html", "md"] = "html"
    good: Id | None = None
    check: Text = ""
    times: int = Field(default=0, ge=0, le=100)
    check_world: bool = False


class KeepOptions(_Strict):
    """As `reenact keep` has them."""

    name: str = Field(default="", max_length=200)
    entry: str = Field(default="", max_length=1000)
    is_async: bool = False
    live: Words = []


class DiagnoseOptions(_Strict):
    """As `reenact diagnose` has them: rules to ask or leave, a filter of runs to compare with, a model to ask too."""

    rules: Words = []
    without: Words = []
    baseline: str = Field(default="", max_length=4000)
    judge: str = Field(default="", max_length=200)


class _Order(_Strict):
    recording: Id

    @property
    def ids(self) -> list[str]:
        """The recordings that it is about."""
        return [self.recording]

    @property
    def runs(self) -> bool:
        """The job starts programs."""
        return True


class Reproduce(_Order):
    """Does the failure reproduce? The result is what `reenact reproduce --json` gives."""

    kind: Literal["reproduce"]
    options: ReproduceOptions = ReproduceOptions()


class Verify(_Strict):
    """Replay recordings against today's code. The result is what `reenact verify --json` gives; also as files."""

    kind: Literal["verify"]
    recordings: Annotated[list[Id], Field(min_length=1, max_length=10_000)]
    options: VerifyOptions = VerifyOptions()

    @property
    def ids(self) -> list[str]:
        """The recordings that it is about."""
        return self.recordings

    @property
    def runs(self) -> bool:
        """The job starts programs."""
        return True


class Fork(_Order):
    """Run the program again up to a step, and live from there. The result is what `reenact fork --json` gives."""

    kind: Literal["fork"]
    options: ForkOptions


class Bisect(_Order):
    """Find the decisive step of a bad run. The result is what `reenact bisect --json` gives."""

    kind: Literal["bisect"]
    options: BisectOptions

    @property
    def ids(self) -> list[str]:
        """The recordings that it is about."""
        return [self.recording, self.options.good]


class Video(_Order):
    """A browser session as a video, with its captions and the map of its time as files."""

    kind: Literal["video"]
    options: VideoOptions = VideoOptions()

    @property
    def runs(self) -> bool:
        """The job starts programs."""
        return False


class Report(_Order):
    """One page about a recording, as a file."""

    kind: Literal["report"]
    options: ReportOptions = ReportOptions()

    @property
    def ids(self) -> list[str]:
        """The recordings that it is about."""
        return [self.recording, *([self.options.good] if self.options.good else [])]

    @property
    def runs(self) -> bool:
        """The job starts programs."""
        return bool(self.options.times or self.options.check or self.options.check_world)


class Keep(_Order):
    """A recording as a pytest test: the test and the recording, as files."""

    kind: Literal["keep"]
    options: KeepOptions = KeepOptions()

    @property
    def runs(self) -> bool:
        """The job starts programs."""
        return False


class Diagnose(_Strict):
    """What is odd about recordings. The result is what `reenact diagnose --json` gives."""

    kind: Literal["diagnose"]
    recordings: Annotated[list[Id], Field(min_length=1, max_length=10_000)]
    options: DiagnoseOptions = DiagnoseOptions()

    @property
    def ids(self) -> list[str]:
        """The recordings that it is about."""
        return self.recordings

    @property
    def runs(self) -> bool:
        """The job starts programs, or asks a model with the server's own key."""
        return bool(self.options.judge)


Kind = Literal["reproduce", "verify", "fork", "bisect", "video", "report", "keep", "diagnose"]
Order = Annotated[
    Reproduce | Verify | Fork | Bisect | Video | Report | Keep | Diagnose, Field(discriminator="kind")
]
ORDERS: TypeAdapter[Order] = TypeAdapter(Order)
"""Reads an order from JSON."""
