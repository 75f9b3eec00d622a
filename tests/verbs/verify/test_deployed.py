"""The examples in deploy/fleet say what `reenact verify` understands, and their parts make the whole."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from reenact.cli.application import application
from reenact.verbs.verify.shard import Shard

FOLDER = Path(__file__).parents[3] / "deploy" / "fleet"
DOCS = (Path(__file__).parents[3] / "docs" / "verify.md").read_text()
COMMAND = application(["verify"]).commands["verify"]


def read(name):
    return yaml.safe_load((FOLDER / name).read_text())


def kuberay():
    return shlex.split(read("kuberay-job.yaml")["spec"]["entrypoint"].partition("reenact verify ")[2])


def indexed():
    (container,) = read("indexed-job.yaml")["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["reenact", "verify"]
    return container["args"]


def matrix():
    steps = read("github-matrix.yml")["jobs"]["verify"]["steps"]
    (line,) = [step["run"] for step in steps if "reenact verify" in step.get("run", "")]
    return shlex.split(line.replace("${{ matrix.part }}", "$PART").partition("reenact verify ")[2])


def understood(words):
    """The options as the command takes them; it refuses what it does not know."""
    return COMMAND.make_context("verify", list(words)).params


@pytest.mark.parametrize("words", [kuberay, indexed, matrix])
def test_every_option_is_one_of_the_command(words):
    taken = understood(words())
    assert taken["team"]
    assert taken["junit"]
    assert taken["entry"] == "PACKAGE.MODULE:FUNCTION"


def test_every_option_that_the_page_shows_is_one_of_the_command():
    known = {name for option in COMMAND.params for name in option.opts}
    shown = {
        word
        for line in re.findall(r"reenact verify [^\n`|#]+", DOCS)
        for word in re.findall(r"(?<= )--?[a-z][a-z-]*", line)
    }
    assert len(shown) > 8
    assert shown <= known


@pytest.mark.parametrize(
    ("words", "variable", "numbers", "first"),
    [
        (indexed(), "$(JOB_COMPLETION_INDEX)", range(read("indexed-job.yaml")["spec"]["completions"]), 0),
        (matrix(), "$PART", read("github-matrix.yml")["jobs"]["verify"]["strategy"]["matrix"]["part"], 1),
    ],
)
def test_the_parts_are_all_there_are(words, variable, numbers, first):
    taken = understood(words)
    assert taken["from_zero"] == (first == 0)
    parts = [Shard.parsed(taken["shard"].replace(variable, str(number)), first=first) for number in numbers]
    assert [part.number for part in parts] == list(range(1, parts[0].of + 1))


def test_a_cluster_of_kuberay_is_one_of_this_ray_and_replays_on_its_workers_only():
    spec = read("kuberay-job.yaml")["spec"]
    taken = understood(kuberay())
    assert (taken["engine"], taken["address"], taken["resume"]) == ("ray", "auto", True)
    cluster = spec["rayClusterSpec"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (workers,) = cluster["workerGroupSpecs"]
    (container,) = workers["template"]["spec"]["containers"]
    (head,) = cluster["headGroupSpec"]["template"]["spec"]["containers"]
    # Without these the nodes cannot read the team's store.
    assert container["envFrom"] == head["envFrom"]
    assert container["image"] == head["image"]
