"""Models, actions and sessions, each by itself, without a browser."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("browser_use", reason="browser-use has an environment of its own: make test-browser-use")

from browser_use import ActionResult, BrowserSession, Tools
from browser_use.browser.views import BrowserError
from browser_use.filesystem.file_system import FileSystem
from browser_use.llm.exceptions import ModelRateLimitError
from browser_use.llm.messages import (
    ContentPartImageParam,
    ContentPartTextParam,
    ImageURL,
    SystemMessage,
    UserMessage,
)
from browser_use.llm.views import ChatInvokeCompletion, ChatInvokeUsage
from browser_use.tokens.service import TokenCost
from pydantic import BaseModel

import reenact
from reenact.adapters import browser_use as adapter
from reenact.adapters.browser_use import browser_session as hooks
from reenact.adapters.hooks import HookMissing
from reenact.testing import AdapterConformance, World
from tests.adapters.browser_use.world import OLDER

WORLD = World()
USAGE = {"prompt_tokens": 7, "prompt_cached_tokens": None, "prompt_cache_creation_tokens": None,
         "prompt_image_tokens": None, "completion_tokens": 2, "total_tokens": 9}  # fmt: skip


class Verdict(BaseModel):
    text: str
    certain: bool = False


class Asked:
    """A model of the program's own, as browser-use's protocol wants it."""

    model = "own-1"
    provider = "own"
    name = "own"

    async def ainvoke(self, messages, output_format=None, **options):
        question = messages[-1].text
        if question == "slow":
            await WORLD.never(question)
        if question == "limit":
            WORLD.answer(question)
            raise ModelRateLimitError("too many", model="own-1")
        said = WORLD.fail(question) if question == "bad" else WORLD.answer(question)
        completion = said if output_format is None else output_format(text=said)
        return ChatInvokeCompletion(completion=completion, usage=ChatInvokeUsage(**USAGE))


def registered():
    llm = Asked()
    counter = TokenCost()
    counter.register_llm(llm)
    return llm, counter


def chat(text):
    return [SystemMessage(content="Answer."), UserMessage(content=text)]


tools = Tools()


@tools.action("Ask the world")
async def ask(question: str):
    if question == "slow":
        await WORLD.never(question)
    return WORLD.fail(question) if question == "bad" else WORLD.answer(question)


class Touching:
    def touched(self):
        return WORLD.asked


class TestModels(Touching, AdapterConformance):
    label = "model:own-1"

    async def call(self, question):
        llm, _ = registered()
        return (await llm.ainvoke(chat(question))).completion

    fail = slow = call


class TestActions(Touching, AdapterConformance):
    label = "tool:ask"

    async def call(self, question):
        return await tools.registry.execute_action("ask", {"question": question})

    fail = slow = call


async def replayed(home, program):
    with reenact.record(home=home) as recording:
        first = await program()
    with reenact.replay(recording.id, home=home) as replay:
        second = await program()
    assert replay.verdict.faithful, str(replay.verdict)
    return first, second


async def test_an_answer_of_the_programs_own_class_comes_back_with_the_same_fields_set(home):
    async def program():
        llm, _ = registered()
        return (await llm.ainvoke(chat("q"), output_format=Verdict)).completion

    first, second = await replayed(home, program)
    assert second == first
    assert second.model_fields_set == {"text"}


async def test_tokens_are_counted_in_a_replay_as_they_were(home):
    async def program():
        llm, counter = registered()
        await llm.ainvoke(chat("q"))
        return (await counter.get_usage_summary()).total_tokens

    assert await replayed(home, program) == (9, 9)


async def test_a_models_error_comes_back_as_the_same_type(home):
    async def program():
        llm, _ = registered()
        with pytest.raises(ModelRateLimitError) as raised:
            await llm.ainvoke(chat("limit"))
        return raised.value.status_code, raised.value.message

    assert await replayed(home, program) == ((429, "too many"), (429, "too many"))


async def test_a_picture_in_a_prompt_is_kept_as_bytes(home):
    llm, _ = registered()
    image = ContentPartImageParam(image_url=ImageURL(url="data:image/png;base64,iVBORw0KGgo="))
    with reenact.record(home=home) as recording:
        await llm.ainvoke([UserMessage(content=[ContentPartTextParam(text="see"), image])])
    (step,) = recording.load() if hasattr(recording, "load") else reenact.load(recording.id, home=home)
    part = step.args["messages"][0]["content"][1]
    assert part == {
        "type": "image",
        "detail": "auto",
        "media_type": "image/png",
        "data": b"\x89PNG\r\n\x1a\n",
    }


async def test_the_files_that_an_answered_action_wrote_are_there(home, tmp_path):
    async def program(folder):
        files = FileSystem(folder)
        wrote = await Tools().registry.execute_action(
            "write_file", {"file_name": "a.md", "content": "hello"}, file_system=files
        )
        return wrote.extracted_content, files.describe(), (files.get_dir() / "a.md").read_text()

    with reenact.record(home=home) as recording:
        first = await program(tmp_path / "files")
    with reenact.replay(recording.id, home=home) as replay:
        second = await program(tmp_path / "files")
    assert replay.verdict.faithful, str(replay.verdict)
    assert second[1:] == first[1:]
    assert "hello" in second[2]


async def test_what_a_failed_action_left_is_there_too(home, tmp_path):
    acting = Tools()

    @acting.action("Fails half way")
    async def half(file_system, page_extraction_llm):
        await file_system.write_file("half.md", "done so far")
        (file_system.get_dir() / "raw.bin").write_bytes(b"\x00\xff")
        await page_extraction_llm.ainvoke(chat("q"))
        raise BrowserError("broke", long_term_memory="it broke half way")

    async def program(folder):
        files = FileSystem(folder)
        llm, counter = registered()
        with pytest.raises(RuntimeError if OLDER else BrowserError) as raised:
            await acting.registry.execute_action("half", {}, file_system=files, page_extraction_llm=llm)
        failed = raised.value.__cause__ if OLDER else raised.value
        used = (await counter.get_usage_summary()).total_tokens
        raw = (files.get_dir() / "raw.bin").stat().st_size
        return failed.long_term_memory, files.list_files(), raw, used

    with reenact.record(home=home) as recording:
        first = await program(tmp_path / "files")
    with reenact.replay(recording.id, home=home) as replay:
        second = await program(tmp_path / "files")
    assert replay.verdict.faithful, str(replay.verdict)
    assert first == second
    assert first[2:] == (2, 9)


async def test_the_fields_of_a_result_that_nobody_set_stay_unset(home):
    acting = Tools()

    @acting.action("Says little")
    async def little():
        return ActionResult(extracted_content="little")

    async def program():
        return await acting.registry.execute_action("little", {})

    first, second = await replayed(home, program)
    assert second == first
    assert second.model_fields_set == first.model_fields_set


async def test_what_the_recording_does_not_know_of_the_browser_is_refused(home, monkeypatch):
    async def started(self):
        return None

    monkeypatch.setattr(BrowserSession, "start", hooks._effect(started, "start", hooks._Done))

    async def program(curious=False):
        browser = BrowserSession(headless=True)
        await browser.start()
        if curious:
            browser.get_page_targets()

    with reenact.record(home=home) as recording:
        await program()
    with pytest.raises(reenact.DivergenceError, match="session_manager.get_all_page_targets"):
        with reenact.replay(recording.id, home=home):
            await program(curious=True)


@pytest.mark.parametrize("lack", ["get_browser_state_summary", "_cdp_client_root", "session_manager"])
def test_an_unknown_version_is_refused_in_one_line(lack):
    methods = (*hooks.ACTIONS, *hooks.ANSWERS, hooks.STATE, *hooks.READ, *hooks.PROPERTIES, *hooks.OTHERS)
    there = {name: None for name in (*methods, "update_cached_selector_map") if name != lack}
    there["__private_attributes__"] = [name for name in hooks._PRIVATE if name != lack]
    there["model_fields"] = [name for name in hooks._FIELDS if name != lack]
    kind = type("BrowserSession", (), there)
    assert hooks.missing(kind) == f"BrowserSession has no {lack}"


def test_nothing_is_patched_where_anything_is_missing(monkeypatch):
    monkeypatch.setattr(adapter, "_NEEDED", (("browser_use.tools.registry.service", "Registry.carry_out"),))
    with pytest.raises(
        HookMissing, match=r"browser-use \S+ is not known .*no browser_use.tools.registry.service"
    ):
        adapter.install(SimpleNamespace(__name__="browser_use.browser.session", BrowserSession=None))


def test_telemetry_is_neither_recorded_nor_sent_in_a_replay(home):
    posthog = pytest.importorskip("posthog")
    namespace = {"__name__": "browser_use.telemetry.service", "Posthog": posthog.Posthog}
    exec("def report():\n    client = Posthog('phc_key', host='http://127.0.0.1:9', send=False)\n"
         "    return client.disabled, client.capture('ran', distinct_id='me')", namespace)  # fmt: skip

    with reenact.record(home=home) as recording:
        disabled, sent = namespace["report"]()
    assert (disabled, sent is None) == (False, False)
    assert [step.call.label for step in reenact.load(recording.id, home=home)] == []
    with reenact.replay(recording.id, home=home) as replay:
        assert namespace["report"]() == (True, None)
    assert replay.verdict.faithful, str(replay.verdict)
