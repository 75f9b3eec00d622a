"""Saved views of the list: kept for all users of a project, within limits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from reenact.server.routes.saved_views import MOST
from tests.server.asking import Asking


@pytest.fixture
def asked(tmp_path):
    with Asking(tmp_path / "home") as asking:
        yield asking


def view(name, filter="tag:staging", sort="steps"):
    return {"name": name, "filter": filter, "sort": sort}


def test_a_view_is_there_for_the_next_server_until_it_is_removed(asked, tmp_path):
    assert asked("/views") == {"items": []}
    asked("/views", method="PUT", json=view("a? & ü"))
    asked("/views", method="PUT", json=view("other"))
    with Asking(tmp_path / "home") as later:
        assert [one["name"] for one in later("/views")["items"]] == ["a? & ü", "other"]
        left = later(f"/views/{quote('a? & ü')}", method="DELETE")
    assert left == asked("/views") == {"items": [view("other")]}
    assert asked("/views/gone", method="DELETE") == left


def test_a_view_of_the_same_name_is_replaced_also_where_no_more_fit(asked):
    for number in range(MOST):
        asked("/views", method="PUT", json=view(f"{number}"))
    refused = asked("/views", 409, method="PUT", json=view("one more"))
    assert refused["detail"] == f"the project has {MOST} saved views already: remove one"
    told = asked("/views", method="PUT", json=view("7", filter="error"))
    assert (len(told["items"]), told["items"][-1]) == (MOST, view("7", filter="error"))


def test_views_that_are_saved_at_once_are_all_kept(asked):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: asked("/views", method="PUT", json=view(f"{n}")), range(24)))
    assert len(asked("/views")["items"]) == 24


@pytest.mark.parametrize(
    "wrong",
    [
        view(""),
        view("a/b"),
        view(".."),
        view("x" * 61),
        view("x", filter="y" * 4001),
        view("x", sort="steps; drop"),
        {"name": "x"},
        {"name": 1, "filter": "", "sort": ""},
    ],
)
def test_a_view_beyond_the_limits_is_refused(asked, wrong):
    asked("/views", 422, method="PUT", json=wrong)
    assert asked("/views") == {"items": []}


@pytest.mark.parametrize("content", [b"{", b'[{"name": 1}]', b"\xff", b'{"items": []}'])
def test_a_file_that_is_not_as_it_was_written_has_no_views(asked, tmp_path, content):
    asked("/views", method="PUT", json=view("x"))
    (tmp_path / "home" / "views.json").write_bytes(content)
    assert asked("/views") == {"items": []}
    assert asked("/views", method="PUT", json=view("y")) == {"items": [view("y")]}
