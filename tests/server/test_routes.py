"""What must hold of every route there is, whoever wrote it."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute

from reenact.server import access
from reenact.server.app import application
from reenact.server.hosting import LOOPBACK
from reenact.server.settings import Settings

PUBLIC = {
    "/api/v1/health": "whether the server is there",
    "/health": "the same, for clients of the browser API",
    "/api/v1/ready": "whether the server can do its work",
    "/ready": "the same, where a cluster asks",
    "/metrics": "it asks for a token or an admin of the server itself: tested in test_operations",
    "/api/v1/login": "a key is shown there",
    "/api/v1/logout": "a cookie is forgotten there",
    "/api/v1/docs": "the document of the API is no secret",
    "/files/{path:path}": "the signature is the key",
}
"""The routes that need no key, and why."""

LOOKED_UP = {"/agents/{id}", "/agents/{id}/stop", "/agents/{id}/workflow/code"}
"""Paths with an id that a client may choose: it is looked up in memory, and nowhere else."""

_NEEDS = {access._reader: "read", access._writer: "write", access._admin: "admin"}


def routes(router, prefix=""):
    """All routes of an application, with their paths."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield prefix + route.path, route
        elif (inner := getattr(route, "original_router", None)) is not None:
            yield from routes(inner, prefix + route.include_context.prefix)


def needs(route):
    """Which role a route asks for; None where it asks for none."""
    found, waiting = None, list(route.dependant.dependencies)
    while waiting:
        one = waiting.pop()
        found = _NEEDS.get(one.call, found)
        waiting += one.dependencies
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    app = application(Settings(tmp_path_factory.mktemp("home"), LOOPBACK))
    found = list(routes(app))
    assert len(found) > 10
    return found


def test_every_route_asks_who_is_there_but_those_that_are_named_here(found):
    assert {path for path, route in found if needs(route) is None} == set(PUBLIC)


def test_what_changes_something_asks_for_more_than_to_read(found):
    changing = {
        (method, path): needs(route)
        for path, route in found
        for method in route.methods
        if method not in {"GET", "HEAD"}
    }
    assert {key for key, role in changing.items() if role == "read"} == set()


def test_no_path_of_a_route_takes_anything_for_an_id(found):
    """A parameter in a path has a pattern, a type or a few values: what becomes a path on the disk is checked first."""
    free = [
        (path, one.name)
        for path, route in found
        if path not in PUBLIC and path.removeprefix("/api/v1") not in LOOKED_UP
        for one in route.dependant.path_params
        if one.field_info.annotation is str
        and not any(getattr(meta, "pattern", None) for meta in one.field_info.metadata)
    ]
    assert free == []
