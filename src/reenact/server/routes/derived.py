"""The routes of verbs, derived from `ROUTES` of their modules and from their `Options`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Query

from reenact.analysis.views.base import View
from reenact.core.query.facts import RecordingFacts
from reenact.server.access import Access, Reader
from reenact.server.library import ID, ProjectLibrary
from reenact.server.orders import field_of, subject_of
from reenact.server.routes.common import MISSING, Id, RecordingRoute
from reenact.verbs.interface import Context, VerbRoute
from reenact.verbs.marks import RECORDING
from reenact.verbs.registry import VERBS, Verb


@dataclass
class RouteContext(Context):
    """The context of a request, which keeps the recordings that it reads locked until its end.

    Attributes:
        library: The project's recordings.
        held: The recordings in use.
    """

    library: ProjectLibrary = field(kw_only=True)
    held: ExitStack = field(kw_only=True)

    def facts(self, *refs: str) -> list[RecordingFacts]:
        """Open recordings in the order of their ids, so that no deadlock is possible."""
        opened = {id: self.held.enter_context(self.library.opened(id)) for id in sorted({*refs})}
        return [opened[ref].facts for ref in refs]


def _endpoint(verb: Verb, route: VerbRoute) -> Callable[..., View]:
    """Return a function for FastAPI, with a parameter for each option in the query."""
    options = verb.module.Options

    def endpoint(access: Access, **asked: Any) -> View:
        values = {
            option: asked[name] for name, option in route.query.items() if asked[name] != defaults[name]
        }
        if "id" in asked:
            values[subject_of(options)] = asked["id"]
        with ExitStack() as held:
            context = RouteContext(access.library.store.root, library=access.library, held=held)
            return route.answer(verb.module.run(options(**values, **route.given), context))

    parameters = [_keyword("access", Reader), *_parameters(verb, route)]
    defaults = {one.name: one.default for one in parameters}
    endpoint.__name__ = route.path.rpartition("/")[2]
    endpoint.__doc__ = route.answer.__doc__
    vars(endpoint)["__signature__"] = inspect.Signature(parameters)
    return endpoint


def _parameters(verb: Verb, route: VerbRoute) -> Iterator[inspect.Parameter]:
    if "{id}" in route.path:
        yield _keyword("id", Id)
    for name, option in route.query.items():
        info = verb.module.Options.fields()[option]
        kind, default = field_of(verb, option, info)
        about = Query(description=info.about.description)
        if RECORDING in info.marks:
            about = Query(description="A recording's id, whole.", pattern=f"^{ID.pattern}$")
        yield _keyword(name, Annotated[kind, about], inspect.Parameter.empty if default is ... else default)


def _keyword(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _router() -> APIRouter:
    made = APIRouter(route_class=RecordingRoute)
    for verb in VERBS:
        for route in verb.module.ROUTES if verb.routes else ():
            made.add_api_route(
                route.path,
                _endpoint(verb, route),
                response_model=get_type_hints(route.answer)["return"],
                response_model_exclude_unset=True,
                responses=MISSING,
                tags=[verb.name],
            )
    return made


router = _router()
