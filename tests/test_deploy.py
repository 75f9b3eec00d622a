"""What deploy/ says is what the programs have: its options, variables, routes, metrics, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from fastapi.testclient import TestClient

from reenact import __version__
from reenact.cli.application import application as commands
from reenact.server.app import application
from reenact.server.settings import Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
SOURCE = "".join(path.read_text() for path in (ROOT / "src" / "reenact").rglob("*.py"))
THEIRS = re.compile(r"AWS_|OTEL_|POSTGRES_|S3_")


def read(name):
    return list(yaml.safe_load_all((DEPLOY / name).read_text()))


COMPOSE = read("compose.yaml")[0]
KUBERNETES = {(one["kind"], one["metadata"]["name"]): one for one in read("kubernetes.yaml")}
COLLECTOR = read("otel-collector.yaml")[0]


def pods():
    deployment = KUBERNETES["Deployment", "reenact"]["spec"]["template"]["spec"]
    jobs = [KUBERNETES["CronJob", f"reenact-{name}"] for name in ("backup", "clean")]
    return [deployment, *(job["spec"]["jobTemplate"]["spec"]["template"]["spec"] for job in jobs)]


def lines():
    """Every command line of ours."""
    yield [word if "$" not in word else "name" for word in COMPOSE["services"]["reenact"]["command"]]
    for pod in pods():
        yield pod["containers"][0]["args"]
    found = re.search(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    yield yaml.safe_load(found[1])
    for path in sorted(one for one in DEPLOY.iterdir() if one.is_file()):
        for words in re.findall(r"reenact (keys add [^`\n]*)", path.read_text()):
            yield words.split()


@pytest.mark.parametrize("words", list(lines()), ids=" ".join)
def test_every_command_line_is_one_that_the_command_takes(words):
    group = commands(words)
    context = group.make_context("reenact", list(words), resilient_parsing=False)
    command, rest = group, list(words)
    while hasattr(command, "get_command") and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        assert found is not None, rest
        command, rest = found, rest[1:]
    assert command is not group
    command.make_context(command.name, rest, parent=context)


def test_every_variable_is_one_that_the_program_reads():
    names = set(COMPOSE["services"]["reenact"]["environment"])
    for pod in pods():
        names |= {one["name"] for one in pod["containers"][0].get("env", ())}
    names |= set(re.findall(r"--from-literal=([A-Z_]+)", (DEPLOY / "kubernetes.yaml").read_text()))
    names |= set(re.findall(r"\b(REENACT_[A-Z]+)=", (DEPLOY / "Dockerfile").read_text()))
    assert names
    assert [name for name in names if not THEIRS.match(name) and f'"{name}"' not in SOURCE] == []
    # And what the files take from .env is in its example.
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    given = set(re.findall(r"^(\w+)=", (DEPLOY / "env.example").read_text(), re.MULTILINE))
    assert asked == given


def test_probes_and_collectors_ask_routes_that_there_are(tmp_path):
    container = pods()[0]["containers"][0]
    probes = {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")}
    probes |= set(re.findall(r"127.0.0.1:8090(/\w+)", (DEPLOY / "Dockerfile").read_text()))
    app = application(Settings(tmp_path, ("testserver",), keyless=True))
    app.state.checks._patience = 120
    with TestClient(app) as client:
        assert {client.get(path).status_code for path in (*probes, "/metrics")} == {200}
        for path in ("/v1/traces", "/v1/logs"):
            answer = client.post(path, headers={"content-type": "application/x-protobuf"})
            assert answer.status_code == 200
        told = client.get("/metrics").text
    names = set(re.findall(r"^# TYPE (\w+)", told, re.MULTILINE))
    rules = read("alerts.yml")[0]["groups"][0]["rules"]
    asked = {name for rule in rules for name in re.findall(r"reenact_\w+", rule["expr"])}
    assert len(asked) >= 4
    assert {name.removesuffix("_bucket") for name in asked} <= names


def test_nothing_runs_as_root_or_without_a_version():
    for pod in pods():
        assert pod["securityContext"]["runAsNonRoot"]
        for container in pod["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert container["image"] == f"reenact:{__version__}"
            writable = {mount["mountPath"] for mount in container["volumeMounts"]}
            assert writable <= {"/data", "/tmp"}
    for name, service in COMPOSE["services"].items():
        image, _, tag = service["image"].rpartition(":")
        assert image, name
        assert re.search(r"\d", tag), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
    assert COMPOSE["services"]["reenact"]["read_only"]
    assert "USER 10001" in (DEPLOY / "Dockerfile").read_text()


def test_what_compose_and_the_dockerfile_bring_along_is_there():
    for config in COMPOSE["configs"].values():
        assert "content" in config or (DEPLOY / config["file"]).is_file()
    for service in COMPOSE["services"].values():
        named = {one["source"] for one in service.get("configs", ())}
        assert named <= COMPOSE["configs"].keys()
        assert {one.partition(":")[0] for one in service.get("volumes", ())} <= COMPOSE["volumes"].keys()
    for words in re.findall(r"^COPY (?!--from)(.*)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE):
        assert all((ROOT / word).exists() for word in words.split()[:-1]), words


def test_the_collector_s_queue_is_on_a_disk_and_never_gives_up():
    exporter = COLLECTOR["exporters"]["otlphttp"]
    queue, retry = exporter["sending_queue"], exporter["retry_on_failure"]
    assert queue["storage"] in COLLECTOR["extensions"]
    assert queue["storage"] in COLLECTOR["service"]["extensions"]
    assert queue["block_on_overflow"]
    assert (retry["enabled"], retry["max_elapsed_time"]) == (True, "0s")
    assert exporter["headers"]["Authorization"] == "Bearer ${env:REENACT_API_KEY}"
    for pipeline in COLLECTOR["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= COLLECTOR[kind].keys()
    asked = set(re.findall(r"\$\{env:(\w+)\}", (DEPLOY / "otel-collector.yaml").read_text()))
    assert asked == set(COMPOSE["services"]["otel-collector"]["environment"])
