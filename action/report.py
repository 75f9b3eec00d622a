"""Verify recordings in a GitHub workflow, and report: JUnit, pages, a summary, a comment on the pull request.

It needs Python with Reenact, and takes its inputs as environment variables (action.yml). Texts of recordings are
hostile: they stand in code blocks that they cannot leave, and mention and link to nothing.
"""

from __future__ import annotations

import difflib
import itertools
import json
import operator
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MARK = "<!-- reenact: recordings -->"
UNABLE = 2
LONGEST_COMMENT = 60_000
LONGEST_VALUE = 4_000
MOST_SHOWN = 20
GOOD = ("same", "fixed")
PATIENCE = 30


@dataclass
class Report:
    """The results so far.

    Attributes:
        status: The exit status.
        outcomes: Each recording's file, and its result by `reenact verify --json`.
        proofs: Each new recording's file, and its result by `reenact prove --json`.
        problems: Parts that could not be done, one sentence each.
        pages: The page of each file that differs.
    """

    status: int = 0
    outcomes: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    proofs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)


def main() -> int:
    """Verify, prove and report; return the exit status."""
    output = Path(given("OUTPUT", "reenact-report"))
    output.mkdir(parents=True, exist_ok=True)
    report = Report()
    files = found(given("RECORDINGS", "recordings").split())
    if not files:
        report.problems.append(f"no recordings (.reenact) in {given('RECORDINGS', 'recordings')}")
        report.status = UNABLE
    else:
        verify(report, files, output)
        if true("PROVE"):
            prove(report, files)
        changed = pull_request_files(report)
        for file, outcome in report.outcomes:
            if outcome["status"] not in GOOD:
                export(report, file, output)
            else:
                compare_files(report, file, changed)
    text = written(report)
    (output / "comment.md").write_text(text, encoding="utf-8")
    append("GITHUB_STEP_SUMMARY", text)
    append("GITHUB_OUTPUT", f"status={report.status}\njunit={output / 'junit.xml'}\n")
    if true("COMMENT"):
        try:
            comment(text)
        except (OSError, ValueError, KeyError) as error:
            # A pull request from a fork has no token that may write.
            print(f"::warning::the comment was not written: {line(str(error))}")
    print(text)
    return report.status


# -- running -------------------------------------------------------------------------------------------------


def given(name: str, default: str = "") -> str:
    """Return an input."""
    return os.environ.get(name, "").strip() or default


def true(name: str) -> bool:
    """Return True for an input that is true; inputs are texts."""
    return given(name, "true").lower() == "true"


def found(folders: list[str]) -> list[str]:
    """Return the recordings in folders, sorted."""
    paths = [path for folder in folders for path in (Path(folder), *sorted(Path(folder).rglob("*.reenact")))]
    return [str(path) for path in dict.fromkeys(paths) if path.suffix == ".reenact" and path.is_file()]


def reenact(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Reenact. The token is not in its environment, nor in that of the programs it runs."""
    environ = {name: value for name, value in os.environ.items() if name not in {"TOKEN", "GITHUB_TOKEN"}}
    return subprocess.run(
        [sys.executable, "-m", "reenact", *words], capture_output=True, text=True, check=False, env=environ
    )


def verify(report: Report, files: list[str], output: Path) -> None:
    """Replay all recordings."""
    words = ["verify", "--json", "--junit", str(output / "junit.xml"), "--html", str(output / "verify.html")]
    words += ["--entry", given("ENTRY")] if given("ENTRY") else []
    words += ["--run-foreign"] if given("RUN_FOREIGN", "false").lower() == "true" else []
    done = reenact(*words, *files)
    report.status = done.returncode
    try:
        outcomes = json.loads(done.stdout)
    except ValueError:
        report.status = report.status or UNABLE
        report.problems.append(
            line(done.stderr) or f"reenact verify ended with exit status {done.returncode}"
        )
        return
    names = files if len(outcomes) == len(files) else [outcome["recording"] for outcome in outcomes]
    report.outcomes = list(zip(names, outcomes, strict=True))


def prove(report: Report, files: list[str]) -> None:
    """Replay the recordings that the pull request adds under other conditions."""
    added = {Path(repository(), name).resolve() for name in pull_request_files(report, "A")}
    good = {file for file, outcome in report.outcomes if outcome["status"] in GOOD}
    for file in files:
        if Path(file).resolve() in added and file in good:
            words = ["--run-foreign"] if given("RUN_FOREIGN", "false").lower() == "true" else []
            done = reenact("prove", "--json", *words, file)
            try:
                report.proofs.append((file, json.loads(done.stdout)))
            except ValueError:
                report.problems.append(f"{file} was not proved: {line(done.stderr)}")
                continue
            report.status = max(report.status, done.returncode)


def pull_request_files(report: Report, kind: str = "") -> set[str]:
    """Return the files that the pull request changes, or of one kind of `git diff --diff-filter`."""
    base = event().get("pull_request", {}).get("base", {}).get("sha", "")
    if not re.fullmatch(r"[0-9a-f]{40,64}", str(base)):
        return set()
    words = ["git", "diff", "--name-only", "--no-renames", f"--diff-filter={kind}", "-z", f"{base}...HEAD"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=repository() or None)
    if done.returncode:
        problem = "the pull request's files are not known: check out with fetch-depth: 0"
        report.problems += [] if problem in report.problems else [problem]
        return set()
    return {name for name in done.stdout.split("\0") if name}


def repository() -> str:
    """Return the folder of the Git repository; empty if there is none."""
    words = ["git", "rev-parse", "--show-toplevel"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def compare_files(report: Report, file: str, changed: set[str]) -> None:
    """Name the changed files that a replay did not see: it reads the recorded ones, of a prompt as of all data."""
    if not changed:
        return
    done = reenact("files", "--json", file)
    try:
        recorded = [each["path"] for each in json.loads(done.stdout)["files"] if each["change"] != "added"]
    except (ValueError, KeyError):
        return
    for name in sorted(name for name in changed if any(f"/{path}".endswith(f"/{name}") for path in recorded)):
        report.problems.append(
            f"{file} was replayed with its recorded {name}, which this pull request changes"
        )
        print(f"::warning::{line(report.problems[-1])}")


def export(report: Report, file: str, output: Path) -> None:
    """Write the page of a recording that differs."""
    name = re.sub(r"[^\w.-]+", "-", file).strip("-.") + ".html"
    done = reenact("export", file, "--html", "--force", "-o", str(output / name))
    if done.returncode:
        report.problems.append(f"{file} has no page: {line(done.stderr)}")
    else:
        report.pages[file] = name


# -- writing -------------------------------------------------------------------------------------------------


def written(report: Report) -> str:
    """Return the report as Markdown."""
    bad = [(file, outcome) for file, outcome in report.outcomes if outcome["status"] not in GOOD]
    good = len(report.outcomes) - len(bad)
    lines = [MARK, "### Recordings", "", f"{good} of {len(report.outcomes)} run as recorded."]
    lines += [f"- {code(problem)}" for problem in report.problems]
    size = sum(map(len, lines))
    for number, (file, outcome) in enumerate(bad):
        part = "\n".join(section(report, file, outcome))
        if number >= MOST_SHOWN or size + len(part) > LONGEST_COMMENT:
            lines += ["", f"{len(bad) - number} more are in the artifact `reenact`."]
            break
        size += len(part)
        lines.append(part)
    for file, proof in report.proofs[:MOST_SHOWN]:
        lines += ["", f"New: {code(file)}: {code(str(proof['result'])[:LONGEST_VALUE])}"]
    link = run_address()
    if link and report.pages:
        lines += [
            "",
            f"The pages of the recordings, with conversation, film and steps: [artifact `reenact`]({link}#artifacts).",
        ]
    return "\n".join(lines)[:LONGEST_COMMENT] + "\n"


def section(report: Report, file: str, outcome: dict[str, Any]) -> Iterator[str]:
    """Return the lines on one recording that differs."""
    where = f" at step {int(outcome['step'])}" if outcome.get("step") else ""
    page = f", page {code(report.pages[file])}" if file in report.pages else ""
    yield f"\n<details open><summary>{escaped(file)}: {escaped(outcome['status'])}{where}</summary>\n"
    divergences = (outcome.get("verdict") or {}).get("divergences") or []
    if not divergences:
        yield fenced(str(outcome.get("detail") or outcome.get("cause") or ""))
    for divergence in divergences[:3]:
        texts = [f"{divergence['kind']} at {divergence['address']}", str(divergence.get("detail") or "")]
        for mismatch in divergence["mismatches"][:8]:
            texts += [
                str(mismatch["path"]),
                f"  {words(shown(mismatch['recorded']), shown(mismatch['actual']))}",
            ]
        yield fenced("\n".join(text for text in texts if text))
    yield f"\n`[-recorded-]`, `{{+actual+}}`{page}; locally: {code(f'reenact replay {file}')}\n\n</details>"


def shown(value: Any) -> str:
    """Return a value as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def words(old: str, new: str) -> str:
    """Compare two texts word by word, with the marks of `git diff --word-diff`."""
    ours, theirs = (re.findall(r"\w{1,40}|\s{1,40}|[^\w\s]", text) for text in (old, new))
    start = common(ours, theirs)
    end = common(ours[start:][::-1], theirs[start:][::-1])
    parts = [equal("".join(ours[:start]))]
    # Only what stands between the common ends is cut: a difference at the end of a long text is shown.
    old_words, new_words = (cut(each[start : len(each) - end]) for each in (ours, theirs))
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old_words, new_words, autojunk=True).get_opcodes():
        if kind == "equal":
            parts.append(equal("".join(old_words[a:b])))
            continue
        parts += [f"[-{''.join(old_words[a:b])}-]"] if b > a else []
        parts += [f"{{+{''.join(new_words[c:d])}+}}"] if d > c else []
    return "".join([*parts, equal("".join(ours[len(ours) - end :]))])


def common(ours: list[str], theirs: list[str]) -> int:
    """Count the equal words at the beginning of both."""
    equals = map(operator.eq, ours, theirs)
    return sum(1 for _ in itertools.takewhile(bool, equals))


def equal(text: str) -> str:
    """Return a text that both sides have, without its middle if it is long."""
    return text if len(text) <= 160 else f"{text[:80]}…{text[-80:]}"


def cut(words: list[str]) -> list[str]:
    """Return the first words of a long text."""
    ends = itertools.accumulate(map(len, words))
    kept = [word for word, end in zip(words, ends, strict=True) if end <= LONGEST_VALUE]
    return (
        kept if len(kept) == len(words) else [*kept, f"…{sum(map(len, words[len(kept) :]))} more characters"]
    )


def line(text: str) -> str:
    """Return a text as one short line."""
    return " ".join(text.split())[:500]


def fenced(text: str) -> str:
    """Return a code block that its text cannot leave: its fence is longer than any in the text."""
    clean = "".join(char if char.isprintable() or char == "\n" else "�" for char in text)
    fence = "`" * (max((len(run) for run in re.findall("`+", clean)), default=2) + 1)
    fence = fence if len(fence) > 2 else "```"
    return f"{fence}text\n{clean}\n{fence}"


def code(text: str) -> str:
    """Return code within a line, which its text cannot leave."""
    clean = line("".join(char if char.isprintable() else " " for char in text))
    tick = "`" * (max((len(run) for run in re.findall("`+", clean)), default=0) + 1)
    pad = " " if "`" in clean else ""
    return f"{tick}{pad}{clean}{pad}{tick}"


def escaped(text: str) -> str:
    """Return text that is neither markup nor a mention."""
    return re.sub(r"[^\w ./-]", lambda found: f"&#{ord(found[0])};", line(str(text)))


# -- GitHub --------------------------------------------------------------------------------------------------


def event() -> dict[str, Any]:
    """Return the event that started the workflow."""
    try:
        tree = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    except (KeyError, OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def run_address() -> str:
    """Return the address of this run of the workflow."""
    parts = [os.environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")]
    return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}" if all(parts) else ""


def append(variable: str, text: str) -> None:
    """Append to a file that the runner names."""
    if os.environ.get(variable):
        with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
            file.write(text)


def comment(text: str) -> None:
    """Write the comment of the pull request, or replace the one of an earlier run. Raises OSError."""
    number = event().get("pull_request", {}).get("number")
    if not isinstance(number, int) or not given("TOKEN"):
        return
    above = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    for known in comments(f"{above}/{number}/comments"):
        if str(known.get("body", "")).startswith(MARK) and (known.get("user") or {}).get("type") == "Bot":
            asked("PATCH", f"{above}/comments/{int(known['id'])}", {"body": text})
            return
    asked("POST", f"{above}/{number}/comments", {"body": text})


def comments(path: str) -> Iterator[dict[str, Any]]:
    """Return the comments of a pull request, page by page."""
    for page in range(1, 31):
        found = asked("GET", f"{path}?per_page=100&page={page}")
        yield from found
        if len(found) < 100:
            return


def asked(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Send a request to GitHub's API; return its answer. Raises OSError."""
    url = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/") + path
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {given('TOKEN')}",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "reenact",
    }
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise OSError(f"{method} {path}: {error.code} {error.reason}") from None


if __name__ == "__main__":
    sys.exit(main())
