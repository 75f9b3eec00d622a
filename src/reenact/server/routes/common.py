"""Parts that the reading routes share: ids in paths, refusals, and large recordings."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Path, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from reenact.server.access import Access
from reenact.server.library import ID
from reenact.server.readers import ForwardedRequest, Readers
from reenact.server.refusals import refusals

Id = Annotated[
    str, Path(description="A recording's id, whole.", pattern=f"^{ID.pattern}$", examples=["q0k4z8m1tx"])
]
FilterText = Annotated[
    str,
    Query(
        alias="filter",
        max_length=4000,
        description="In the language of filters; empty for all.",
        examples=["tool:cancel_order and error"],
    ),
]
Offset = Annotated[int, Query(ge=0, le=1 << 31, description="The number of items to skip.")]

REFUSED = refusals(400, 401, 403)
"""The refusals of a request about all recordings."""

MISSING = refusals(400, 401, 403, 404, 413, 503)
"""The refusals of a request about one recording."""


class RecordingRoute(APIRoute):
    """A route about contents of recordings; for a large one, another process answers.

    The recordings are `id` in the path, or `a` and `b` in the query.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return a handler that passes requests about large recordings on."""
        here = super().get_route_handler()

        async def handler(request: Request) -> Response:
            readers: Readers | None = request.app.state.readers
            access: Access | None = getattr(request.state, "access", None)
            if readers is None or access is None or request.method != "GET":
                return await here(request)
            query = request.query_params if self.path.endswith("/diff") else {}
            asked = (request.path_params.get("id"), query.get("a"), query.get("b"))
            ids = [id for id in asked if id and ID.fullmatch(id)]
            state = await run_in_threadpool(access.library.large, *ids)
            if not state:
                return await here(request)
            known = tuple(entry for id in ids if (entry := access.library.entry(id)) is not None)
            home, scope = access.library.store.root, request.scope
            forwarded = ForwardedRequest(home, scope["path"], scope["query_string"], known)
            answer = await readers.answer(ids[0], state, forwarded)
            return Response(answer.body, answer.status, media_type=answer.media_type)

        return handler
