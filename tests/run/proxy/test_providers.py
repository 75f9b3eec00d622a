"""Which variables lead where."""

from __future__ import annotations

import pytest

from reenact.errors import UsageError
from reenact.run.proxy import Route, environ, placeholders, routes, wanted


def upstreams(**given):
    return {route.variable: route.upstream for route in routes(given)}


def test_the_known_variables_lead_to_their_providers():
    found = upstreams()
    assert found["OPENAI_BASE_URL"] == "https://api.openai.com/v1"
    assert found["ANTHROPIC_BASE_URL"] == "https://api.anthropic.com"
    assert found["OLLAMA_HOST"] == "http://127.0.0.1:11434"
    assert "AZURE_OPENAI_ENDPOINT" not in found


def test_what_the_user_has_set_stays_where_it_leads():
    found = upstreams(
        OPENAI_BASE_URL="http://127.0.0.1:9999/v1/", AZURE_OPENAI_ENDPOINT="https://own.azure.com"
    )
    assert found["OPENAI_BASE_URL"] == "http://127.0.0.1:9999/v1"
    assert found["AZURE_OPENAI_ENDPOINT"] == "https://own.azure.com"


def test_variables_of_the_users_own_lead_to_the_proxy_too():
    found = upstreams(
        REENACT_PROXY="SHOP_URL, BANK_URL", SHOP_URL="https://shop/", BANK_URL="http://bank:80/v2"
    )
    assert (found["SHOP_URL"], found["BANK_URL"]) == ("https://shop", "http://bank:80/v2")
    assert found["OPENAI_BASE_URL"] == "https://api.openai.com/v1"


@pytest.mark.parametrize(("given", "said"), [({}, "is not set"), ({"SHOP_URL": "shop:80"}, "is 'shop:80'")])
def test_one_that_is_no_address_is_refused_by_its_name(given, said):
    with pytest.raises(UsageError, match=f"REENACT_PROXY names SHOP_URL, which {said}: set it"):
        routes({"REENACT_PROXY": "SHOP_URL", **given})


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0:8000", "http://127.0.0.1:8000"),
        ("box", "http://box:11434"),
        (":8000", "http://127.0.0.1:8000"),
    ],
)
def test_a_host_without_a_scheme_is_an_address_too(host, url):
    assert upstreams(OLLAMA_HOST=host)["OLLAMA_HOST"] == url


def test_who_uses_azure_alone_is_not_turned_to_openai():
    assert "OPENAI_BASE_URL" not in upstreams(AZURE_OPENAI_ENDPOINT="https://own.azure.com")
    assert "OPENAI_BASE_URL" in upstreams(
        AZURE_OPENAI_ENDPOINT="https://own.azure.com", OPENAI_API_KEY="sk-x"
    )


def test_a_path_goes_on_to_the_upstream_with_its_query():
    assert Route("X", "http://host/v1").url("/models", "limit=2") == "http://host/v1/models?limit=2"


@pytest.mark.parametrize("path", ["/v1/messages", "/messages"])
def test_anthropic_is_asked_by_its_version_whoever_puts_it_there(path):
    assert Route("X", "https://api.anthropic.com").url(path, "") == "https://api.anthropic.com/v1/messages"


def test_no_other_proxy_comes_between_the_program_and_this_one():
    (route,) = [route for route in routes({}) if route.variable == "OPENAI_BASE_URL"]
    assert environ([route], 80, {}) == {"OPENAI_BASE_URL": "http://127.0.0.1:80/openai_base_url"}
    assert environ([route], 80, {"HTTP_PROXY": "http://out", "NO_PROXY": "corp"})["NO_PROXY"] == (
        "corp,127.0.0.1,localhost"
    )


def test_a_key_that_is_missing_in_a_replay_has_something_in_its_place():
    names = wanted({"OPENAI_API_KEY": "sk", "ANTHROPIC_AUTH_TOKEN": "t", "HOME": "/", "GROQ_API_KEY": ""})
    assert names == ["ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"]
    assert placeholders(names, {"OPENAI_API_KEY": "sk"}) == {"ANTHROPIC_AUTH_TOKEN": "replayed"}
