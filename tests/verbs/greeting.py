"""A verb as a developer adds it: one file, and one line of the registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from reenact.analysis.views.base import View
from reenact.verbs import interface
from reenact.verbs.fields import Field
from reenact.verbs.interface import Context, VerbRoute
from reenact.verbs.marks import LOCAL, Cli, Ref, WireType


class Options(interface.Options):
    """Greet a recording.

    Exit status: 3 for a shout.
    """

    ref: Ref
    words: Annotated[tuple[str, ...], Field(description="The words of the greeting.")] = ()
    times: Annotated[
        int, Field(ge=1, description="How often."), Cli(names=("--times", "-t")), WireType(le=9)
    ] = 2
    shout: Annotated[bool, Field(description="In capitals."), LOCAL] = False


@dataclass(frozen=True)
class Result(interface.Result):
    greeting: str
    loud: bool

    @property
    def status(self) -> int:
        return 3 if self.loud else 0

    def tree(self) -> dict[str, Any]:
        return {"greeting": self.greeting}


def run(options: Options, context: Context) -> Result:
    name = context.store.load(options.ref).name
    greeting = " ".join([*(options.words or ("hello",)), name] * options.times)
    context.say("greeted", 1)
    return Result(greeting.upper() if options.shout else greeting, options.shout)


class GreetingView(View):
    greeting: str


def served(result: Result) -> GreetingView:
    """A greeting over the network."""
    return GreetingView(greeting=result.greeting)


ROUTES = (VerbRoute("/recordings/{id}/greeting", served, {"word": "words", "times": "times"}),)
