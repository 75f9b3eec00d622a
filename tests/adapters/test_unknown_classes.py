"""A recording of a later version of a framework: the error names the command that says which one it was."""

from __future__ import annotations

import re
from importlib.metadata import version

import pytest

from tests.hints import followed

LANGCHAIN = """
    from langchain_core import messages
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel

    class HologramMessage(messages.AIMessage):
        pass

    messages.HologramMessage = HologramMessage
    model = FakeMessagesListChatModel(responses=[HologramMessage("Hello")])
    print(model.invoke("Hi").content)
"""
PYDANTIC_AI = """
    from dataclasses import dataclass
    from pydantic_ai import Agent, messages
    from pydantic_ai.models.function import FunctionModel

    @dataclass
    class HologramPart(messages.TextPart):
        pass

    messages.HologramPart = HologramPart
    model = FunctionModel(lambda asked, info: messages.ModelResponse([HologramPart("Hello")]))
    print(Agent(model).run_sync("Hi").output)
"""
FRAMEWORKS = {
    "pydantic-ai": ("pydantic_ai", "pydantic-ai-slim", PYDANTIC_AI),
    "langchain": ("langchain_core", "langchain-core", LANGCHAIN),
}


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_class_of_a_later_version_names_what_says_the_version(shell, framework):
    module, package, program = FRAMEWORKS[framework]
    pytest.importorskip(module)
    shell.write("agent.py", program)
    done, recording = shell.record("agent.py")
    assert done.out == "Hello\n", done.err
    shell.write("agent.py", re.sub(r"(?m)^ +messages.Hologram.*\n", "", program))
    said = shell.replay().err
    words = {
        "langchain": lambda: followed(said, "adapters/langchain/object_wire.py", "report"),
        "pydantic-ai": lambda: followed(said, "adapters/pydantic_ai/object_wire.py", "report"),
    }[framework]()
    done = shell.run(*[recording.id if word == "ID" else word for word in words])
    assert done.status == 0, done.err
    assert f"| {package} | {version(package)} |" in (shell.folder / "report.md").read_text()
