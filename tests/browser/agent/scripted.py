"""A model whose answers are written down beforehand, and what a test looks up in the page that it is shown."""

from __future__ import annotations

import json
import re

from pydantic_ai.messages import (
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel


def shown(messages):
    """All that the model is told in its last request."""
    told = []
    for part in messages[-1].parts:
        if isinstance(part, UserPromptPart):
            content = (
                part.content
                if isinstance(part.content, str)
                else "\n".join(item for item in part.content if isinstance(item, str))
            )
            told.append(content)
        elif isinstance(part, ToolReturnPart):
            told.append(str(part.content))
        elif isinstance(part, RetryPromptPart):
            told.append(part.model_response())
    return "\n".join(told)


def element(page, role, name=""):
    """The id of an element in the page as it is shown."""
    for line in page.splitlines():
        if role in line and name in line and (found := re.search(r"\b[A-Z]\d+\b(?=\])", line)):
            return found[0]
    raise AssertionError(f"no {role} {name!r} in:\n{page}")


class Scripted:
    """Answers one by one; the last one again and again.

    An answer is an action's dict (or that of another question's answer), a function of the page as it was last shown that gives one, an exception to raise, or text.
    """

    def __init__(self, *answers):
        self.answers = list(answers)
        self.told = []
        self.page = ""
        self.pictures = 0
        self.model = FunctionModel(self._answer, model_name="scripted")

    def _answer(self, messages, info):
        told = shown(messages)
        self.told.append(told)
        for part in messages[-1].parts:
            if isinstance(part, UserPromptPart) and not isinstance(part.content, str):
                self.pictures += sum(not isinstance(item, str) for item in part.content)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if "# The page now" in told:
            self.page = told
        if callable(answer):
            answer = answer(self.page)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, str):
            return ModelResponse(parts=[TextPart(answer)])
        decision = answer
        if "type" in answer:
            decision = {"reasoning": f"because {answer['type']}", "action": answer}
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, json.dumps(decision))])


def click(role, name=""):
    """Click on an element, by the id that it has in the page."""
    return lambda page: {"type": "click", "id": element(page, role, name)}


def fill(name, value, role="textbox"):
    """Fill an element."""
    return lambda page: {"type": "fill", "id": element(page, role, name), "value": value}


def done(answer="", success=True):
    """The end."""
    return {"type": "completion", "success": success, "answer": answer}
