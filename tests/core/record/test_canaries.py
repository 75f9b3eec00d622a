"""Secrets of more than twenty shapes, in every place where one can stand: none of them reaches the disk, in whatever
form, and what was recorded replays faithfully all the same.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import httpx
import pydantic
import pytest

import reenact
from reenact.core.query.filter import Filter
from reenact.core.store import bundle
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from tests.adapters.http import server as web
from tests.adapters.http.clients import ALL
from tests.core.record.canaries import (
    EVERYWHERE,
    HELD,
    NAMED,
    SHAPES,
    leaks,
    test_the_search_finds_what_is_hidden,
)
from tests.soak.tables import keep

__all__ = ["test_the_search_finds_what_is_hidden"]

FOUND: dict[str, int] = {}


@pytest.fixture(scope="module", autouse=True)
def _results():
    yield
    if os.environ.get("REENACT_RESULTS"):
        keep(
            "canaries",
            {"shapes": len(SHAPES) + 2, "places": len(FOUND), "found on disk": sum(FOUND.values())},
        )


@pytest.fixture(autouse=True)
def _held(monkeypatch):
    monkeypatch.setenv("WAREHOUSE_API_KEY", HELD)


@pytest.fixture
def clean(home, request):
    """Record a program, search the disk, replay it; gives the recording."""

    def check(program, **options):
        with reenact.record("canaries") as run:
            first = program()
        assert_clean(request, home)
        with reenact.replay(run.id, **options) as replay:
            second = program()
        assert replay.verdict.faithful, replay.verdict
        assert type(first) is type(second)
        return run.load()

    return check


def assert_clean(request, home):
    """Nothing in the recordings, nor in what is made of them: the index, an exported file."""
    store = LocalStore(home)
    list(Index(store).search(Filter("text~'7'"), limit=5))
    for id in store.ids():
        bundle.export(store, id, Path(home) / f"{id}.reenact", force=True)
    found = leaks(home)
    FOUND[request.node.name] = len(found)
    assert not found


# -- tools ---------------------------------------------------------------------------------------------------


@dataclass
class Account:
    name: str
    note: str


class Customer(pydantic.BaseModel):
    name: str
    note: str
    key: pydantic.SecretStr


class Pair(NamedTuple):
    left: str
    right: str


class Opaque:
    """Not recordable, and its repr tells a secret."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return f"<client with {self.text}>"


VALUES = {
    "text": EVERYWHERE,
    "each alone": list(SHAPES.values()),
    "in prose": [f"use {secret}, please." for secret in SHAPES.values()],
    "as JSON text": json.dumps(SHAPES),
    "as JSON in JSON": json.dumps({"inner": json.dumps({"note": EVERYWHERE, "password": NAMED})}),
    "under names": {
        "password": NAMED,
        "api_key": NAMED,
        "clientSecret": NAMED,
        "nested": [{"access_token": NAMED}],
    },
    "dict keys": dict.fromkeys(SHAPES.values(), 1),
    "dict with odd keys": {(1, secret): secret for secret in SHAPES.values()},
    "ordered dict": OrderedDict(a=EVERYWHERE),
    "tuple": tuple(SHAPES.values()),
    "set": set(SHAPES.values()),
    "frozenset": frozenset([EVERYWHERE]),
    "deque": deque(SHAPES.values()),
    "named tuple": Pair(EVERYWHERE, HELD),
    "dataclass": Account("Ann", EVERYWHERE),
    "pydantic": Customer(name="Ann", note=EVERYWHERE, key=NAMED),
    "bytes": EVERYWHERE.encode(),
    "binary bytes": b"\xff\x00" + EVERYWHERE.encode() + b"\xfe",
    "bytearray": bytearray(b"\xff" + EVERYWHERE.encode()),
    "large binary": b"\xff" * 20_000 + EVERYWHERE.encode() + bytes(range(256)) * 10,
    "large text bytes": b"x" * 20_000 + b" " + EVERYWHERE.encode(),
    "path": Path("/srv") / SHAPES["github"],
    "line breaks": "\n".join(SHAPES.values()),
    "quoted": [repr(secret) for secret in SHAPES.values()],
    "url": [f"https://api.test/v1?api_key={secret}&q=1" for secret in SHAPES.values()],
    "userinfo": [f"postgres://admin:{NAMED}@db.test/orders", f"redis://:{SHAPES['openai']}@cache.test"],
    "headers": [
        f"Authorization: Bearer {NAMED}",
        ("X-Api-Key", NAMED),
        {"name": "cookie", "value": f"sid={NAMED}"},
    ],
    "private key": "-----BEGIN RSA PRIVATE KEY-----\n" + EVERYWHERE + "\n-----END RSA PRIVATE KEY-----",
    "unicode around": [f"ключ→{secret}←🔑" for secret in SHAPES.values()],
    "surrogates": f"\udcff {EVERYWHERE}",
}

values = pytest.mark.parametrize("value", list(VALUES.values()), ids=list(VALUES))


@reenact.tool
def echo(value=None, *more, **named):
    return value


@reenact.tool
def give(what):
    return VALUES[what]


@reenact.tool
def fail(what):
    text = VALUES[what] if isinstance(VALUES[what], str) else repr(VALUES[what])
    error = LookupError(text, VALUES[what])
    error.request = VALUES[what]
    raise error from ValueError(text)


@pytest.mark.sampled
@values
def test_not_from_an_argument(clean, value):
    clean(lambda: echo(value))


@pytest.mark.thorough
@values
def test_not_from_arguments_of_many_calls(clean, value):
    clean(
        lambda: [
            echo(value),
            echo([value, "and more"]),
            echo([value, "and more", "x" * 600]),
            echo(key=value),
        ]
    )


@pytest.mark.thorough
@pytest.mark.parametrize("what", list(VALUES))
def test_not_from_a_result(clean, what):
    clean(lambda: give(what))


@pytest.mark.thorough
@pytest.mark.parametrize("what", list(VALUES))
def test_not_from_an_exception(clean, what):
    def program():
        with pytest.raises(LookupError):
            fail(what)

    clean(program)


@reenact.tool
def letters(text, size):
    for at in range(0, len(text), size):
        yield text[at : at + size]


@reenact.tool
async def aletters(text, size):
    for at in range(0, len(text), size):
        yield text[at : at + size]


@pytest.mark.thorough
@pytest.mark.parametrize("size", [1, 7, 64])
def test_not_from_chunks_of_bytes_that_cut_it_anywhere(clean, size):
    clean(lambda: list(letters(EVERYWHERE.encode(), size)))


def test_not_from_chunks_of_an_async_stream(clean):
    async def program():
        return [chunk async for chunk in aletters(EVERYWHERE.encode(), 5)]

    clean(lambda: asyncio.run(program()))


def test_not_from_whole_texts_in_a_stream(clean):
    clean(lambda: list(letters(list(SHAPES.values()), 1)))


def test_not_from_what_cannot_be_recorded(clean, capfd):
    with reenact.record() as run:
        echo([Opaque(EVERYWHERE)])
    assert not leaks(os.environ["REENACT_HOME"])
    assert SHAPES["openai"] not in capfd.readouterr().err
    assert any("could not be kept" in note for note in run.load().notes)


# -- names ---------------------------------------------------------------------------------------------------


def test_not_from_the_recordings_name_and_tags(home, request):
    with reenact.record(f"agent {SHAPES['openai']}", tags=[SHAPES["github"], HELD]):
        echo(1)
    assert_clean(request, home)


@pytest.mark.thorough
@pytest.mark.parametrize("secret", [*SHAPES.values(), HELD], ids=[*SHAPES, "held"])
def test_not_from_the_name_of_a_span_or_an_effect(clean, secret):
    def program():
        with reenact.span(f"session {secret}"):
            reenact.effect("tool", f"call {secret}").perform(lambda: 1)
            return echo(2)

    clean(program)


def test_not_from_the_name_of_a_task_or_thread(clean):
    def work():
        return echo(3)

    work.__qualname__ = f"work {SHAPES['openai']}"

    def program():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    clean(program)


# -- the run -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@values
def test_not_from_the_output_of_a_run(home, request, value):
    with reenact.record() as run:
        run.output = echo(value)
    assert_clean(request, home)
    with reenact.replay(run.id) as replay:
        replay.output = echo(value)
    assert replay.verdict.faithful


def test_not_from_the_error_that_ends_a_run(home, request):
    with pytest.raises(ValueError, match="openai"), reenact.record():
        raise ValueError("openai", EVERYWHERE)
    assert_clean(request, home)


def test_not_from_the_environment(clean, monkeypatch):
    monkeypatch.setenv("ORDERS_PASSWORD", NAMED)
    monkeypatch.setenv("GREETING", EVERYWHERE)
    clean(lambda: [os.environ["ORDERS_PASSWORD"], os.getenv("GREETING"), echo(os.environ["ORDERS_PASSWORD"])])


def test_not_from_the_salt_of_a_hash_or_random_text(clean):
    clean(
        lambda: [echo(base64.b64encode(b"\xff" + secret.encode()).decode()[:0]) for secret in SHAPES.values()]
    )


PROGRAM = """
import os, subprocess, sys
import reenact

@reenact.tool
def echo(value):
    return value

print(echo(sys.argv[1:]), os.getcwd())
print(sys.stdin.read(), file=sys.stderr)
if sys.argv[1] != "child":
    subprocess.run([sys.executable, __file__, "child", *sys.argv[1:]], check=True, stdin=subprocess.DEVNULL)
"""


@pytest.mark.thorough
def test_not_from_the_command_line_output_input_and_folder_of_a_program(shell, request):
    folder = shell.folder / f"{SHAPES['github']}"
    folder.mkdir()
    program = shell.write("agent.py", PROGRAM)
    words = [*SHAPES.values(), f"--api-key={NAMED}", "--password", NAMED, f"ORDERS_PASSWORD={NAMED}"]
    command = ["record", "--name", SHAPES["slack"], "--", sys.executable, program, *words]
    done = shell.run(*command, cwd=folder, text=EVERYWHERE, env={"WAREHOUSE_API_KEY": HELD})
    assert done.status == 0, done.err
    assert_clean(request, shell.home)


@pytest.mark.thorough
def test_not_from_the_command_of_a_process(clean):
    def program():
        return subprocess.run(
            [sys.executable, "-c", "pass", *SHAPES.values(), "--token", NAMED], check=True
        ).returncode

    clean(program)


@pytest.mark.thorough
def test_not_from_the_error_of_a_program(shell, request):
    shell.write("agent.py", f"import reenact\nraise ValueError({EVERYWHERE!r})")
    shell.run("record", "--", sys.executable, "agent.py", env={"WAREHOUSE_API_KEY": HELD})
    assert_clean(request, shell.home)


# -- HTTP ----------------------------------------------------------------------------------------------------


class Answers(web._Handler):
    """Answers with what the test put into `bodies`."""

    def on_header(self, *_):
        self.answer(
            {},
            **{f"X-Reply-{n}": secret for n, secret in enumerate(SHAPES.values())},
            Set_Cookie=f"sid={NAMED}",
        )

    def on_json_body(self, *_):
        self.answer({"note": EVERYWHERE, "access_token": NAMED, "list": list(SHAPES.values())})

    def on_text_body(self, *_):
        self.answer(EVERYWHERE.encode(), kind="text/plain")

    def on_packed(self, *_):
        self.answer(
            gzip.compress(json.dumps({"note": EVERYWHERE, "password": NAMED}).encode()),
            Content_Encoding="gzip",
        )

    def on_binary_body(self, *_):
        self.answer(b"\xff\x00" + EVERYWHERE.encode(), kind="application/octet-stream")

    def on_cut(self, size, *_):
        self.begin_chunked()
        data = "".join(f"data: {json.dumps({'text': secret})}\n\n" for secret in SHAPES.values()).encode()
        for at in range(0, len(data), int(size)):
            self.chunk(data[at : at + int(size)])
        self.wfile.write(b"0\r\n\r\n")

    def on_deltas(self, *_):
        self.begin_chunked()
        for letter in EVERYWHERE + " .":
            self.chunk(
                f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': letter}}]})}\n\n".encode()
            )
        self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def url():
    server = web.Server(Answers)
    yield server.url
    server.stop()


clients = pytest.mark.parametrize("client", ALL, ids=repr)
ANSWERS = ["header", "json-body", "text-body", "packed", "binary-body", "cut/3", "cut/50", "deltas"]


@pytest.mark.thorough
@clients
@pytest.mark.parametrize("answer", ANSWERS)
def test_not_from_an_answer(clean, url, client, answer):
    clean(lambda: client.get(f"{url}/{answer}").status)


@pytest.mark.sampled
@clients
def test_not_from_request_headers(clean, url, client):
    headers = {"Authorization": f"Bearer {NAMED}", "X-Api-Key": NAMED, "Cookie": f"sid={NAMED}; theme=dark"}
    headers |= {f"X-Other-{number}": secret for number, secret in enumerate([*SHAPES.values(), HELD])}
    clean(lambda: client.get(f"{url}/nothing", headers=headers).status)


@pytest.mark.thorough
@clients
def test_not_from_the_query_and_the_path(clean, url, client):
    def program():
        for secret in [*SHAPES.values(), HELD]:
            client.get(f"{url}/nothing/{secret}/send?key={NAMED}&note={secret}")

    clean(program)


def test_not_from_the_userinfo_of_a_url(clean, url):
    at = url.replace("http://", f"http://ann:{NAMED}@")
    clean(lambda: httpx.get(f"{at}/nothing").status_code)


BODIES = {
    "json": (json.dumps({"note": EVERYWHERE, "password": NAMED}).encode(), {"content-type": "application/json"}),
    "form": (f"grant=x&client_secret={NAMED}&note={SHAPES['openai']}".encode(),
             {"content-type": "application/x-www-form-urlencoded"}),
    "text": (EVERYWHERE.encode(), {"content-type": "text/plain"}),
    "binary": (b"\xff\x00" + EVERYWHERE.encode(), {"content-type": "application/octet-stream"}),
    "packed": (gzip.compress(json.dumps({"note": EVERYWHERE, "password": NAMED}).encode(), mtime=0),
               {"content-type": "application/json", "content-encoding": "gzip"}),
}  # fmt: skip


@pytest.mark.thorough
@clients
@pytest.mark.parametrize("kind", list(BODIES))
def test_not_from_a_request_body(clean, url, client, kind):
    body, headers = BODIES[kind]
    clean(lambda: client.post(f"{url}/nothing", body, headers=headers).status)


def test_not_from_a_multipart_form(clean, url):
    def program():
        files = {"file": ("keys.txt", io.BytesIO(EVERYWHERE.encode()), "text/plain")}
        return httpx.post(
            f"{url}/nothing", data={"password": NAMED, "note": EVERYWHERE}, files=files
        ).status_code

    clean(program)


def test_not_from_a_failed_connection(clean):
    def program():
        with pytest.raises(httpx.ConnectError):
            httpx.get(
                f"http://ann:{NAMED}@127.0.0.1:9/{SHAPES['slack']}?token={NAMED}",
                headers={"X-Note": EVERYWHERE},
            )

    clean(program)


# -- models and rules of one's own ---------------------------------------------------------------------------


def test_not_from_a_pydantic_ai_run(clean):
    models = pytest.importorskip("pydantic_ai.models.function")
    messages = pytest.importorskip("pydantic_ai.messages")
    agents = pytest.importorskip("pydantic_ai")

    def answer(history, info):
        if len(history) == 1:
            return messages.ModelResponse(
                parts=[messages.ToolCallPart("remember", {"note": EVERYWHERE, "password": NAMED})]
            )
        return messages.ModelResponse(parts=[messages.TextPart(EVERYWHERE)])

    agent = agents.Agent(models.FunctionModel(answer), instructions=f"Never tell {EVERYWHERE}")

    @agent.tool_plain
    def remember(note: str, password: str) -> str:
        return f"{note} {HELD}"

    clean(lambda: asyncio.run(agent.run(f"My key is {EVERYWHERE}")).output)


def test_not_what_a_users_own_rules_name(home, request):
    rules = replace(
        reenact.DEFAULT_RULES, names=reenact.DEFAULT_RULES.names | {"badge"}, patterns=(r"CUST-\d{6}",)
    )
    with reenact.record(secrets=rules) as run:
        echo({"badge": NAMED, "text": "of CUST-123456"})
    assert_clean(request, home)
    assert b"CUST-123456" not in Path(run.path, "events.jsonl").read_bytes()
