"""What is asked over the network: read as both clients write it, and no more allowed than a browser's use."""

from __future__ import annotations

import io

import pytest

from reenact.browser.actions import types as do
from reenact.errors import UsageError
from reenact.server.wire.requests import action_of, check_address, model_of, options_of, scrape_of
from reenact.server.wire.stored_files import LARGEST, SessionFiles


@pytest.fixture
def files(tmp_path):
    return SessionFiles(tmp_path)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"type": "click", "id": "B1", "timeout": 15000, "category": "x", "description": "y"}, do.Click(id="B1")),
        (
            {"type": "click", "id": "", "selector": {"playwright_selector": 'internal:text="Buy tea"', "css_selector": ""}},
            do.Click(selector="~Buy tea"),
        ),
        ({"type": "click", "id": "", "selector": {"css_selector": "#a"}}, do.Click(selector="css=#a")),
        (
            {"type": "click", "selector": {"css_selector": "#a", "xpath_selector": "//b"}},
            do.Click(selector={"css": "#a", "xpath": "//b"}),
        ),
        ({"type": "click", "selector": {"css": "#a", "role": "button"}}, do.Click(selector={"css": "#a", "role": "button"})),
        ({"type": "goto", "url": "http://a.example", "wait_until": "commit"}, do.Goto(url="http://a.example")),
        ({"type": "multi_factor_fill", "id": "I1", "value": "1"}, do.Fill(id="I1", value="1")),
        (scrape_of({"only_main_content": False, "scrape_links": True}), do.Scrape(only_main_content=False)),
    ],
)  # fmt: skip
def test_an_action_is_read_as_either_client_writes_it(files, sent, meant):
    assert action_of(sent, files) == meant


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"type": "goto", "url": "file:///etc/passwd"}, "file: addresses are not opened by a server"),
        ({"type": "goto", "url": " VIEW-SOURCE:file:///etc/passwd"}, "view-source: addresses"),
        ({"type": "goto_new_tab", "url": "chrome://settings"}, "chrome: addresses"),
        ({"type": "upload_file", "id": "I1", "file_path": "/etc/passwd"}, "there is no file '/etc/passwd'"),
        ({"type": "upload_file", "id": "I1", "file_path": "../x"}, "there is no file '../x'"),
        ({"type": "download_file", "id": "L1", "file_path": "/tmp/x"}, "leave file_path out"),
        ({"type": "captcha_solve"}, "captcha_solve belongs to a hosted service"),
        ({"type": "fill", "id": "I1", "value": "x", "press_enter": True}, "press_enter is not supported"),
        ({"type": "scrape", "ignored_tags": ["nav"]}, "ignored_tags"),
        ({"id": "B1"}, "an action needs a type"),
    ],
)
def test_an_action_that_is_not_for_others_is_refused(files, sent, told):
    with pytest.raises(UsageError, match=told.replace("(", r"\(")):
        action_of(sent, files)


@pytest.mark.parametrize(
    "url", ["localhost:8000/x", "a.example:80", "about:blank", "data:text/html,a", "a.example/b"]
)
def test_addresses_of_the_web_are_opened(url):
    check_address(url)


def test_the_options_of_the_other_client_are_understood():
    sent = {
        "solve_captchas": True, "max_duration_minutes": 15, "timeout_minutes": 3, "proxies": True, "auth_ids": [],
        "browser_type": "chromium", "screenshot_type": "last_action", "web_bot_auth": False, "vault_id": None,
    }  # fmt: skip
    assert options_of(sent, foreign=True) == {
        "max_duration_minutes": 15,
        "idle_timeout_minutes": 3,
        "browser_type": "chromium",
        "screenshot_type": "viewport",
        "cdp": False,
    }
    assert options_of({"screenshot_type": "full"}, foreign=False)["screenshot_type"] == "full"


@pytest.mark.parametrize(
    "option",
    [
        {"executable_path": "/bin/sh"},
        {"home": "/"},
        {"profile": "/root"},
        {"downloads": "/"},
        {"chrome_args": ["--renderer-cmd-prefix=touch /tmp/x"]},
        {"chrome_args": ["--lang=de", "--load-extension=/x"]},
        {"chrome_args": "--lang=de"},
        {"proxies": [{"type": "external", "server": "http://p"}]},
        {"max_duration_minutes": 0},
        {"max_duration_minutes": 100_000},
        {"cdp_url": "http://127.0.0.1:9222"},
        {"nonsense": 1},
        {"extra_http_headers": "x"},
        {"mask": [1]},
        {"model": {"url": "http://x"}},
    ],
)
def test_an_option_that_reaches_beyond_the_browser_is_refused(option):
    with pytest.raises(UsageError):
        options_of(option, foreign=False)


def test_the_model_is_the_one_that_somebody_named():
    assert model_of("gemini/gemini-3.5-flash", "openai/mine", foreign=True) == "openai/mine"
    assert model_of("gemini/gemini-3.5-flash", "openai/mine", foreign=False) == "google:gemini-3.5-flash"
    assert model_of("gemini/gemini-3.5-flash", None, foreign=True) == "google:gemini-3.5-flash"
    assert model_of(None, "openai/mine", foreign=False) == "openai/mine"


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.txt", "a.txt"),
        ("../../etc/passwd", "passwd"),
        ("C:\\x\\b.csv", "b.csv"),
        ("a\x00b", "a_b"),
        (".x", ".x"),
    ],
)
def test_a_file_stays_in_its_session_whatever_it_is_called(files, name, kept):
    one = files.keep(name, io.BytesIO(b"12"))
    assert (one.name, one.path.parent, one.size) == (kept, files.uploads, 2)


@pytest.mark.parametrize("name", ["..", ".", "/", "x" * 300])
def test_a_file_without_a_name_is_refused(files, name):
    with pytest.raises(UsageError, match="is not a valid file name"):
        files.keep(name, io.BytesIO(b""))


def test_a_file_that_is_too_large_is_refused_and_leaves_nothing(files):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"\0" * size

    with pytest.raises(UsageError, match=f"at most {LARGEST // 1_000_000} MB"):
        files.keep("a", Endless())
    assert list(files.uploads.iterdir()) == []
