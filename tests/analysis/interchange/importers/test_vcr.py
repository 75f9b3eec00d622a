"""vcrpy's cassettes become recordings of HTTP exchanges, and what speaks HTTP replays from them."""

from __future__ import annotations

import base64
import gzip
import json
import time
from pathlib import Path

import httpx
import pytest

import reenact
from reenact.analysis.interchange import importers
from reenact.cli import main
from reenact.core.query.facts import RecordingFacts
from reenact.core.store.index import Index
from reenact.core.store.local import LocalStore
from reenact.errors import DivergenceError, NotARecording, ReenactError
from tests.adapters.http.cassettes import DATA, found

URL = "https://api.openai.com/v1/chat/completions"
ASKED = '{"messages":[{"role":"user","content":"2+2?"}],"model":"gpt-5"}'
ANSWER = {
    "model": "gpt-5",
    "choices": [{"message": {"role": "assistant", "content": "4"}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1},
}
REPLY = json.dumps(ANSWER)
DATE = "Fri, 19 Apr 2024 06:08:05 GMT"


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "home")


def exchange(body=None, *, asked=ASKED, headers=None, answered=None, **request):
    return {
        "request": {
            "method": "POST", "uri": URL, "body": asked,
            "headers": {"Content-Type": ["application/json"], "accept": ["*/*"]} if headers is None else headers,
            **request,
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"Content-Type": ["application/json"], "Date": [DATE], **(answered or {})},
            "body": {"string": REPLY} if body is None else body,
        },
    }  # fmt: skip


def written(tmp_path, *exchanges, name="test_chat.yaml"):
    import yaml

    file = tmp_path / name
    document = {"interactions": list(exchanges), "version": 1}
    file.write_text(json.dumps(document) if name.endswith("json") else yaml.safe_dump(document))
    return file


def bring(store, file):
    form, (id,) = importers.bring(store, file)
    assert form == "vcr"
    return store.load(id)


def post(body=ASKED, **options):
    with httpx.Client() as client:
        return client.post(URL, content=body, headers={"content-type": "application/json"}, **options)


@pytest.mark.parametrize("name", ["test_chat.yaml", "test_chat.yml", "test_chat.json", "cassette"])
def test_a_cassette_is_a_recording_whose_exchanges_are_read_as_model_calls(store, tmp_path, name):
    recording = bring(store, written(tmp_path, exchange(), exchange(), name=name))
    assert recording.name == Path(name).stem
    assert [step.call.label for step in recording] == ["http:POST api.openai.com/v1/chat/completions"] * 2
    facts = RecordingFacts(recording).steps[0]
    assert (facts.get("model"), facts.get("tokens")) == ("gpt-5", 8)
    assert facts.turn.call.answer.text == "4"
    line = Index(store).summaries()[0]
    assert (line.status, line.entry, line.steps, line.broken) == ("ok", "imported", 2, "")


def test_a_program_that_speaks_http_replays_from_it(store, tmp_path):
    recording = bring(store, written(tmp_path, exchange()))
    with reenact.replay(recording.path) as replay:
        answer = post()
    assert (answer.status_code, answer.reason_phrase, answer.text) == (200, "OK", REPLY)
    assert (replay.verdict.served, replay.verdict.divergences) == (1, ())


def test_another_question_is_a_departure_with_its_place(store, tmp_path):
    recording = bring(store, written(tmp_path, exchange()))
    with pytest.raises(
        DivergenceError, match=r"args.body.messages\[0\].content: recorded '2\+2\?', actual '3"
    ):
        with reenact.replay(recording.path):
            post(ASKED.replace("2+2", "3+3"))


@pytest.mark.parametrize("binary", [False, True])
def test_a_compressed_answer_is_kept_readable_and_served_compressed(store, tmp_path, binary):
    data = gzip.compress(REPLY.encode())
    body = {"string": data} if binary else {"base64_string": base64.b64encode(data).decode()}
    recording = bring(store, written(tmp_path, exchange(body, answered={"Content-Encoding": ["gzip"]})))
    assert recording.step(1).chunks == [REPLY.encode()]
    assert recording.step(1).output["decoded"] == "gzip"
    with reenact.replay(recording.path):
        assert post().json() == ANSWER


def test_an_answer_kept_decompressed_below_its_old_header_is_served_all_the_same(store, tmp_path):
    recording = bring(store, written(tmp_path, exchange(answered={"content-encoding": "gzip"})))
    assert not any("raw" in chunk for chunk in recording.step(1).chunks if isinstance(chunk, dict))
    with reenact.replay(recording.path):
        assert post().text == REPLY


def test_bytes_that_are_no_text_come_back_as_they_were(store, tmp_path):
    frame = b"\x00\x00\x00\x10\xff\xfe"
    recording = bring(store, written(tmp_path, exchange({"string": frame})))
    with reenact.replay(recording.path):
        assert post().content == frame


def test_parsed_bodies_are_written_anew_and_the_recording_says_so(store, tmp_path):
    one = exchange()
    del one["request"]["body"], one["response"]["body"]
    one["request"]["parsed_body"] = json.loads(ASKED)
    one["response"]["parsed_body"] = ANSWER
    recording = bring(store, written(tmp_path, one))
    assert "parsed JSON (step 1)" in recording.notes[0]
    with reenact.replay(recording.path) as replay:
        assert post(json.dumps(json.loads(ASKED), indent=1)).json() == ANSWER
    assert any("not byte for byte" in note for note in replay.verdict.notes)


def test_a_cassette_without_request_headers_says_what_a_replay_of_it_needs(store, tmp_path):
    recording = bring(store, written(tmp_path, exchange(headers={})))
    assert "ignore=['http:* args.headers']" in recording.notes[0]
    with pytest.raises(DivergenceError, match=r"args.headers.accept"):
        with reenact.replay(recording.path):
            post()
    with reenact.replay(recording.path, ignore=["http:* args.headers"]):
        assert post().text == REPLY


def test_the_servers_dates_are_the_recordings_times(store, tmp_path):
    later = exchange(answered={"Date": ["Fri, 19 Apr 2024 06:08:07 GMT"]})
    recording = bring(store, written(tmp_path, exchange(), later))
    assert recording.started.startswith("2024-04-19T06:08:05")
    assert recording.duration == 2.0


def test_secrets_leave_before_anything_is_written(store, tmp_path):
    key = "sk-proj-" + "a1B2c3D4" * 6
    secret = exchange(headers={"Authorization": f"Bearer {key}"}, asked=ASKED.replace("2+2?", key))
    recording = bring(store, written(tmp_path, secret, exchange({"string": f'{{"api_key": "{key}"}}'})))
    data = b"".join(path.read_bytes() for path in Path(recording.path).rglob("*") if path.is_file())
    assert key.encode() not in data
    with reenact.replay(recording.path, ignore=["http:* args.headers"]):
        # The same secret asks the same question.
        post(ASKED.replace("2+2?", key))
        post()


def test_an_answer_that_was_an_error_and_one_without_a_body_are_answers(store, tmp_path):
    refused, empty = exchange(), exchange(None)
    refused["response"]["status"] = {"code": 429, "message": "Too Many Requests"}
    empty["response"] |= {"status": {"code": 204, "message": None}, "body": {"string": ""}}
    recording = bring(store, written(tmp_path, refused, empty))
    with reenact.replay(recording.path):
        assert [post().status_code, post().status_code] == [429, 204]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("interactions: []", "is an empty cassette"),
        ("name: build\non: push", "no known format (an object with name, True)"),
        ("interactions:\n- {request: {method: GET}, response: {}}", "interaction 1: it is no exchange"),
        ("interactions:\n- {kind: message, direction: sent, data: {}}", "websocket messages"),
        ("interactions:\n- request: [", "line 3, column"),
        ("interactions:\n- 3", "interaction 1: it is no exchange"),
        ("interactions: !!python/object/apply:os.system [x]", "this YAML cannot be read"),
        ("interactions:\n- request: {method: G, uri: 'http://x', body: {base64_string: 'é'}}\n  response: {}", "interaction 1"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_cassette_gets_one_line_and_leaves_nothing(store, tmp_path, content, says):
    file = tmp_path / "bad.yaml"
    file.write_text(content)
    with pytest.raises(NotARecording) as caught:
        importers.bring(store, file)
    text = str(caught.value)
    assert says in text
    assert text.startswith(str(file))
    assert "\n" not in text
    assert not store.root.exists()


def test_a_folder_is_imported_with_all_below_it_and_names_what_is_none(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "cassettes" / "deep"
    folder.mkdir(parents=True)
    written(folder, exchange(), name="one.yaml")
    written(folder.parent, exchange(), name="two.json")
    (folder / "notes.txt").write_text("no cassette, and not looked at")
    (folder / "ci.yaml").write_text("jobs: {}")
    assert main(["import", str(folder.parent)]) == 2
    out = capsys.readouterr()
    assert "ci.yaml has no known format" in out.out + out.err
    assert sorted(line.name for line in Index(LocalStore()).summaries()) == ["one", "two"]


def test_a_folder_without_anything_to_import_is_said(tmp_path):
    with pytest.raises(NotARecording, match="holds no file to import"):
        importers.files_in(tmp_path)


def test_a_recording_of_ours_within_a_folder_is_taken_whole(tmp_path):
    with reenact.record("x", home=tmp_path / "home") as recording:
        pass
    assert [path.name for path in importers.files_in(tmp_path)] == [recording.id]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no recorded traffic at {DATA}")
def test_real_cassettes_replay_byte_for_byte_what_they_hold(store):
    paths = found("openllmetry-cassettes", "openinference-cassettes", "pydantic-ai-cassettes")[::15]
    served = 0
    for path in paths:
        try:
            recording = bring(store, path)
        except ReenactError as error:
            assert "websocket" in str(error)  # noqa: PT017 - which of the files it will be is not known
            continue
        with (
            reenact.replay(recording.path, ignore=["http:* args.headers"]) as replay,
            httpx.Client() as client,
        ):
            for step in recording:
                args = step.args
                answer = client.request(
                    args["method"], args["url"], headers=args["headers"], content=args["body"]
                )
                chunks = [c if isinstance(c, bytes) else c.encode() for c in step.chunks]
                assert (answer.status_code, answer.content) == (step.output["status"], b"".join(chunks))
                served += 1
        assert replay.verdict.divergences == ()
    assert served > len(paths)


HOSTILE = {
    "aliases that double": "interactions:\n"
    + "\n".join(
        ["- &a0 [x, x, x, x, x, x, x, x, x, x]"]
        + [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    ),
    "merges that double": "a0: &a0 {k: v}\n"
    + "\n".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 9)),
    "one within itself": "interactions: &a [*a]",
    "very deep": "interactions: " + "[" * 100_000 + "]" * 100_000,
    "a number to the base of sixty": "interactions: " + "1:" * 200_000 + "1",
    "a number of many digits": "interactions: " + "9" * 200_000,
    "a class": "interactions: [!!python/object/apply:os.system ['true']]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_yaml_file_is_refused_at_once(tmp_path, text):
    file = tmp_path / "hostile.yaml"
    file.write_text(text)
    begun = time.process_time()
    with pytest.raises(NotARecording, match="cannot be read"):
        importers.runs(file)
    assert time.process_time() - begun < 2
