"""Real providers' answers, through their SDKs and through each HTTP library: recorded, and replayed sealed.

`REENACT_ALL_CASSETTES=1` runs all that there are, not a sample of them.
"""

import asyncio
import json
import os

import pytest

from tests.adapters.http.cassettes import DATA, Player, found, load, naming
from tests.adapters.http.clients import ALL
from tests.adapters.http.conftest import Bench

pytest.importorskip("yaml", reason="cassettes are YAML: install pyyaml")
if not DATA.is_dir():
    pytest.skip(f"no recorded traffic at {DATA}", allow_module_level=True)

_EVERY = bool(os.environ.get("REENACT_ALL_CASSETTES"))
_HOSTS = ("api.openai.com/v1/chat", "api.openai.com/v1/responses", "api.anthropic.com/v1/messages")
_CREATE = {
    "/v1/chat/completions": lambda client: client.chat.completions.create,
    "/v1/completions": lambda client: client.completions.create,
    "/v1/responses": lambda client: client.responses.create,
    "/v1/embeddings": lambda client: client.embeddings.create,
    "/v1/messages": lambda client: client.messages.create,
}


_REDACTED = {
    "test_image_gen_metrics.yaml": "the signature in a URL is recorded as a token",
    "test_openai_responses_model_mcp_server_tool_with_connector.yaml": "an authorization is recorded as a token",
    "test_cohere_v2_chat_legacy_with_streaming_async.yaml": "'sh' may begin a Shopify token: it moves likewise",
    "test_anthropic_mcp_servers_stream.yaml": "'AI' may begin a Google key: it moves to the next delta",
}
"""Where a replay differs from the live run, and has to."""


def sample(paths, most):
    """So many of them, from all over."""
    paths = [path for path in paths if path.name not in _REDACTED]
    step = 1 if _EVERY else max(1, len(paths) // most)
    return [pytest.param(path, id="/".join(path.relative_to(DATA).parts)) for path in paths[::step]]


@pytest.fixture
def play(tmp_path, monkeypatch):
    players = []

    def start(exchanges):
        player = Player(exchanges)
        players.append(player)
        return Bench(player, tmp_path / "home", monkeypatch)

    yield start
    for player in players:
        player.stop()


def through_sdk(exchange):
    host, path = exchange.host, exchange.path.partition("?")[0]
    if exchange.method != "POST" or path not in _CREATE or not exchange.body.startswith(b"{"):
        return None
    return {"api.openai.com": "openai", "api.anthropic.com": "anthropic"}.get(host)


def ask(library, exchange, url):
    sdk = __import__(library)
    options = {"api_key": "sk-test-0123456789abcdefghijkl", "max_retries": 0}
    base = url + ("/v1" if library == "openai" else "")
    asked = exchange.json
    stream = bool(asked.get("stream"))
    needed = {
        key: asked[key]
        for key in ("model", "messages", "input", "prompt", "max_tokens", "stream")
        if key in asked
    }
    rest = {key: value for key, value in asked.items() if key not in needed}
    create = _CREATE[exchange.path.partition("?")[0]]

    def sync():
        with (sdk.OpenAI if library == "openai" else sdk.Anthropic)(base_url=base, **options) as client:
            answer = create(client)(**needed, extra_body=rest)
            return [part.model_dump() for part in answer] if stream else answer.model_dump()

    async def asynchronous():
        async with (sdk.AsyncOpenAI if library == "openai" else sdk.AsyncAnthropic)(
            base_url=base, **options
        ) as client:
            answer = await create(client)(**needed, extra_body=rest)
            return [part.model_dump() async for part in answer] if stream else answer.model_dump()

    def told(run):
        try:
            return run()
        except Exception as error:
            return type(error).__name__, str(error)

    return [told(sync), told(lambda: asyncio.run(asynchronous()))]


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "path",
    sample(naming(found("openllmetry-cassettes", "openinference-cassettes"), *_HOSTS), 25)
    + sample(naming(found("pydantic-ai-cassettes"), *_HOSTS), 25),
)
def test_an_sdk_sees_the_same_in_a_replay(play, path):
    exchanges = [exchange for exchange in load(path) if through_sdk(exchange)]
    if not exchanges:
        pytest.skip("nothing in it for the OpenAI or Anthropic SDK")
    bench = play([exchange for exchange in exchanges for _ in range(2)])
    live, again = bench.both(
        lambda: [ask(through_sdk(exchange), exchange, bench.server.url) for exchange in exchanges]
    )
    # Compared as text: what a provider sent may hold NaN, which equals nothing.
    assert repr(live) == repr(again)
    assert [json.loads(body) for body in bench.server.received] == [
        exchange.json for exchange in exchanges for _ in range(2)
    ]


@pytest.mark.sampled
@pytest.mark.parametrize(
    "path",
    sample(found("openinference-cassettes"), 12) + sample(found("openllmetry-cassettes"), 12),
)
def test_every_library_sees_the_same_in_a_replay(play, path):
    exchanges = load(path)[:3]
    clients = [client for client in ALL if client.name != "urllib"]
    bench = play([exchange for exchange in exchanges for _ in clients])

    def program():
        return [
            client.ask(
                exchange.method,
                bench.server.url + exchange.path,
                exchange.body or None,
                {"content-type": exchange.headers.get("content-type", "application/json")},
            )
            for exchange in exchanges
            for client in clients
        ]

    live, again = bench.both(program)
    for one, other in zip(live, again, strict=True):
        assert (one.status, one.reason, one.chunks) == (other.status, other.reason, other.chunks)
    assert bench.server.received == [exchange.body for exchange in exchanges for _ in clients]
