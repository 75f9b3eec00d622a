"""The scripted provider for agents that drive a browser: they are told what they did in one text, and answer in JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import weakref

from tests.adapters.pydantic_agents.fake_provider import _OpenAI
from tests.frameworks import provider


class Provider(provider.Provider):
    """browser-use's: its actions run one after the other, so nobody waits for the other city."""

    def __init__(self):
        super().__init__(patience=0)
        # An agent leaves files of its own there, in a replay too. Chromium's sockets want a short path.
        self._folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    @property
    def environ(self):
        """As any provider's; and where the browser is."""
        chrome = os.environ.get("CHROME") or shutil.which("chromium") or shutil.which("google-chrome")
        more = {
            "ANONYMIZED_TELEMETRY": "false",
            "BROWSER_USE_VERSION_CHECK": "false",
            "TMPDIR": self._folder,
        }
        return super().environ | more | ({"CHROME": chrome} if chrome else {})


class _Steps(_OpenAI):
    """POST /v1/chat/completions, whose answer is a step of the agent's: what it thinks, and its next actions."""

    @staticmethod
    def heard(asked):
        # What it is nudged with comes in messages of its own.
        asked_of = [message for message in asked["messages"] if message["role"] == "user"]
        told = "\n".join(provider._text(message["content"]) for message in asked_of)
        results = [
            ("weather", json.dumps({"city": city, "degrees": int(degrees)}))
            for city, degrees in provider._weather(told)
        ]
        if "503" in told:
            results.append(("rate", "503"))
        results += [("rate", found) for found in re.findall(r"per_euro\W+[\d.]+", told)]
        return told, results

    @staticmethod
    def whole(model, text, calls):
        actions = [{name: arguments} for _, name, arguments in calls]
        step = {
            "thinking": "What do I know?",
            "evaluation_previous_goal": "Success",
            "memory": "so far so good",
            "next_goal": "go on",
            "action": actions or [{"done": {"text": text, "success": True}}],
        }
        return _OpenAI.whole(model, json.dumps(step), [])


Provider.shapes = {"/chat/completions": _Steps}
