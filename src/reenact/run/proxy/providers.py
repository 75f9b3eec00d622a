"""The environment variables with the providers' addresses, as their SDKs read them.

Source: the SDKs' own code, in Python and JavaScript. A variable without a single default address (a user's resource, a
region) leads to the proxy only if the user has set it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reenact.core.dataclass import dataclass
from reenact.errors import UsageError

_OPENAI = "https://api.openai.com/v1"
_ANTHROPIC = "https://api.anthropic.com"
_OLLAMA = "http://127.0.0.1:11434"

VARIABLES: dict[str, str] = {
    "OPENAI_BASE_URL": _OPENAI,
    "OPENAI_API_BASE": _OPENAI,
    "ANTHROPIC_BASE_URL": _ANTHROPIC,
    "ANTHROPIC_API_BASE": _ANTHROPIC,
    "GOOGLE_GEMINI_BASE_URL": "https://generativelanguage.googleapis.com",
    "GROQ_BASE_URL": "https://api.groq.com",
    "MISTRAL_API_BASE": "https://api.mistral.ai/v1",
    "OLLAMA_HOST": _OLLAMA,
    "OLLAMA_API_BASE": _OLLAMA,
    "OLLAMA_BASE_URL": "",
    "AZURE_OPENAI_ENDPOINT": "",
    "AZURE_API_BASE": "",
    "GOOGLE_VERTEX_BASE_URL": "",
    "GEMINI_API_BASE": "",
    "CO_API_URL": "",
    "CO_BASE_URL": "",
    "DEEPSEEK_API_BASE": "",
    "MISTRAL_BASE_URL": "",
    "OPENROUTER_API_BASE": "",
    "TOGETHER_BASE_URL": "",
    "VLLM_BASE_URL": "",
    "XAI_API_BASE": "",
}
"""Each variable, and the SDK's default address; empty if that depends on the user."""

_LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class Route:
    """One variable: requests below `/variable` go on to `upstream`."""

    variable: str
    upstream: str

    @property
    def key(self) -> str:
        """The first part of the path, at the proxy."""
        return self.variable.lower()

    def url(self, rest: str, query: str) -> str:
        """Return the target of a request, from the path behind the key and the query."""
        if self.upstream == _ANTHROPIC and not rest.startswith("/v1/"):
            # Anthropic's own SDKs add the version to the address, and others expect it to be there.
            rest = f"/v1{rest}"
        return f"{self.upstream}{rest}{'?' + query if query else ''}"


def routes(given: Mapping[str, str]) -> tuple[Route, ...]:
    """Return the routes for a program with that environment: the user's addresses stay.

    `REENACT_PROXY=VARIABLE,VARIABLE` names more variables that lead to the proxy, of services that the program's tools
    use. Raises UsageError if one of them is no address.
    """
    found = [Route(name, _own(name, given)) for name in named(given)]
    for variable, default in VARIABLES.items():
        own = given.get(variable, "").strip().rstrip("/")
        upstream = (_host(own) if variable == "OLLAMA_HOST" else own) or default
        if upstream and variable not in named(given) and not _spares(variable, given):
            found.append(Route(variable, upstream))
    return tuple(found)


def named(given: Mapping[str, str]) -> list[str]:
    """The variables that the user has named, each once."""
    return [*dict.fromkeys(given.get("REENACT_PROXY", "").replace(",", " ").split())]


def _own(variable: str, given: Mapping[str, str]) -> str:
    address = given.get(variable, "").strip().rstrip("/")
    if not address.startswith(("http://", "https://")):
        is_what = f"is {address!r}" if address else "is not set"
        raise UsageError(
            f"REENACT_PROXY names {variable}, which {is_what}: set it to the address that its service has, as "
            f"{variable}=http://127.0.0.1:8000"
        )
    return address


def _spares(variable: str, given: Mapping[str, str]) -> bool:
    """Return True if setting a variable would turn the program to another service.

    `AzureOpenAI` of the JavaScript SDK prefers OPENAI_BASE_URL to the endpoint that the user has set.
    """
    azure = given.get("AZURE_OPENAI_ENDPOINT") and not given.get("OPENAI_API_KEY")
    return variable == "OPENAI_BASE_URL" and bool(azure) and not given.get(variable)


def _host(text: str) -> str:
    """Return the address in OLLAMA_HOST, which often is only host and port."""
    if not text or "://" in text:
        return text
    host, colon, port = text.rpartition(":")
    name = host if colon else port
    # A server's address to listen on is no address for requests.
    name = "127.0.0.1" if name in ("", "0.0.0.0") else name  # noqa: S104 - nothing is bound here
    return f"http://{name}:{port if colon else '11434'}"


def environ(found: Iterable[Route], port: int, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that lead to the proxy, with no other proxy in between."""
    added = {route.variable: f"http://127.0.0.1:{port}/{route.key}" for route in found}
    if any(name.lower() in ("http_proxy", "all_proxy") and value for name, value in given.items()):
        known = given.get("no_proxy") or given.get("NO_PROXY") or ""
        spared = ",".join([*([known] if known else []), *_LOOPBACK])
        added |= {"NO_PROXY": spared, "no_proxy": spared}
    return added


def wanted(given: Mapping[str, str]) -> list[str]:
    """Return the names of the keys that are set: without them an SDK refuses to start."""
    return sorted(
        name for name, value in given.items() if value and name.endswith(("_API_KEY", "_AUTH_TOKEN"))
    )


def placeholders(names: Iterable[str], given: Mapping[str, str]) -> dict[str, str]:
    """Return a placeholder for each key that was set at record time and is not now.

    A replay sends no request.
    """
    return {name: "replayed" for name in names if not given.get(name)}
