"""Prints of requests that may change something, and which request is another one."""

from __future__ import annotations

import json

import pytest

from reenact.browser.page.writes import LARGEST, other, written

SITE = "http://dock.test/boats"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"


def sends(path="/boats/4/scrap", body=b"", kind=JSON, method="POST"):
    return written(method, f"http://dock.test{path}", SITE, kind, body)


def said(**fields):
    return json.dumps(fields).encode()


def test_a_print_has_the_fields_of_a_body_and_gives_no_value_back():
    one = sends(body=said(boat="Stevoup", crew={"mate": "Ada"}))
    assert set(one["body"]) == {"boat", "crew.mate"}
    assert "Stevoup" not in str(one)
    assert "Ada" not in str(one)
    assert all(len(value) == 3 for value in one["body"].values())


def test_a_secret_field_has_no_print():
    one = sends(body=b"user=ada&password=1234", kind=FORM)
    assert one["body"]["password"] == ""
    assert one["body"]["user"]


@pytest.mark.parametrize(
    ("now", "then", "whole", "why"),
    [
        (sends(), sends(), True, ""),
        (sends("/boats/5/scrap"), sends(), True, "good runs POST /boats/4/scrap"),
        (sends("/boats/5/scrap"), sends(), False, ""),
        (sends("/boats/5/sell"), sends(), False, "it sends POST /boats/5/sell"),
        (sends(method="DELETE"), sends(), False, "it sends DELETE"),
        (sends(body=said(boat=4)), sends(body=said(boat=5)), True, "another value of 'boat'"),
        (sends(body=said(boat=4)), sends(body=said(boat=5)), False, ""),
        (sends(body=said(action="sell")), sends(body=said(action="scrap")), False, "another value of 'action'"),
        (sends(body=said(boat=4, all=True)), sends(body=said(boat=4)), True, "a field 'all'"),
        (sends(body=said()), sends(body=said(boat=4)), True, "no field 'boat'"),
        (sends(body=said(csrf_token="a")), sends(body=said(csrf_token="b")), True, ""),
        (sends("/boats?id=4"), sends("/boats?id=5"), True, "another value of '?id'"),
        (sends(body=b"a=1&b=2", kind=FORM), sends(body=b"b=2&a=1", kind=FORM), True, ""),
        (sends(body=b"\x00\x01", kind="x/y"), sends(body=b"\x00\x02", kind="x/y"), True, "another body"),
    ],
)  # fmt: skip
def test_a_request_is_another_one_by_its_method_path_and_body(now, then, whole, why):
    found = other(now, [then], whole=whole)
    assert (not found) if not why else why in found


def test_what_differs_among_good_runs_is_not_compared():
    runs = [sends(body=said(day=one, boat=4)) for one in ("May 3", "May 9")]
    assert other(sends(body=said(day="June 1", boat=4)), runs, whole=True) == ""
    assert "boat" in other(sends(body=said(day="June 1", boat=7)), runs, whole=True)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, b"{" * 100_000),
        (JSON, b"[" * 200_000),
        (JSON, b"{bad"),
        (FORM, b"&".join(b"a=%d" % one for one in range(5000))),
        (FORM, b"\xff\xfe"),
        ("multipart/form-data", b"--no"),
        ("multipart/form-data; boundary=x", b"--x\r\n" * 1000),
        (JSON, b"x" * (LARGEST + 1)),
    ],
)
def test_a_body_of_a_wrong_form_has_a_print_of_its_whole(kind, body):
    one = sends(body=body, kind=kind)
    assert other(one, [one], whole=True) == ""


def test_the_parts_of_a_form_with_files_are_its_fields():
    body = b'--x\r\nContent-Disposition: form-data; name="boat"\r\n\r\n4\r\n--x--\r\n'
    assert set(sends(body=body, kind="multipart/form-data; boundary=x")["body"]) == {"boat"}
