"""The model of a browser session to watch: steps, screen, network, console and trees.

The page of `reenact watch` and the console show it. All times are of one clock.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from reenact.analysis.views.text import visible

Text = Annotated[str, AfterValidator(visible)]
"""A recorded text without direction marks and hidden line ends."""


class FilmPart(BaseModel):
    """A part of a film; its JSON also has the fields without a value."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


class FilmSaid(FilmPart):
    """One message of a model call; `pictures` are places among the step's pictures."""

    role: Text
    text: Text = ""
    thinking: Text = ""
    calls: tuple[tuple[Text, Text], ...] = ()
    answer: bool = False
    pictures: tuple[int, ...] = ()


class Target(FilmPart):
    """The place of an action's element, in pixels of the page: x, y, width and height."""

    box: tuple[float, float, float, float] | None = None
    point: tuple[float, float] | None = None


class FilmStep(FilmPart):
    """A step of a session, or a model call between two. Times are seconds since its start."""

    n: int | None
    call: int
    kind: Text
    name: Text
    t: float
    end: float | None = None
    status: Text
    edited: bool = False
    acts: bool = False
    title: Text
    message: Text = ""
    actor: Text = ""
    url: Text = ""
    line: Text = ""
    tab: int | None = None
    fields: tuple[tuple[Text, Text], ...] = ()
    gave: Text = ""
    why: tuple[tuple[Text, Text], ...] = ()
    selectors: tuple[tuple[Text, Text], ...] = ()
    target: Target | None = None
    said: tuple[FilmSaid, ...] | None = None
    known: int | None = None
    model: Text = ""


class FilmTab(FilmPart):
    """A tab that is open."""

    tab: int
    url: Text
    title: Text


class FilmPlace(FilmPart):
    """The open tabs and the one in front, from a moment on."""

    t: float
    front: int
    tabs: tuple[FilmTab, ...]


class FilmRequest(FilmPart):
    """A request of a page, and its result."""

    t: float
    end: float | None = None
    tab: int | None = None
    method: Text = ""
    url: Text = ""
    type: Text = ""
    status: int | None = None
    size: int | None = None
    ms: float | None = None
    failed: Text = ""
    asked: Text = ""
    post: Text = ""
    answered: Text = ""
    body: Text = ""


class FilmLine(FilmPart):
    """A line of the page's console, or a text beside the page (`card`)."""

    t: float
    level: Text
    text: Text
    where: Text = ""
    card: bool = False


class FilmMoment(FilmPart):
    """The number of the kept page in a tab, from a moment on."""

    t: float
    tab: int
    page: int


class Film(FilmPart):
    """A session. `scenes` are changes of the picture; `reads` are the times of the `trees`.

    `begin` is the session's beginning in the recording's time.
    """

    recording: Text
    name: Text
    status: Text
    started: Text
    session: int
    sessions: int
    begin: float
    duration: float
    viewport: tuple[float, float]
    browser: Text
    over: bool
    notes: tuple[Text, ...]
    steps: tuple[FilmStep, ...]
    scenes: tuple[float, ...]
    missing: int
    places: tuple[FilmPlace, ...]
    network: tuple[FilmRequest, ...]
    console: tuple[FilmLine, ...]
    reads: tuple[tuple[float, int], ...]
    trees: tuple[Text, ...]
    moments: tuple[FilmMoment, ...] = ()
