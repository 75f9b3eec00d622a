"""Write a script out of parts, and change it at one place."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.soak.scripts.parts import FOOTER, HEADER, PARTS

CALL = re.compile(r"ask\(\"(\w+ [\w ]+)\"")


@dataclass(frozen=True)
class Script:
    """A script that is the same for the same seed.

    Attributes:
        text: The whole text.
        parts: The names of its parts.
    """

    seed: int
    text: str
    parts: tuple[str, ...]


def write(seed: int, port: int, only: str | None = None) -> Script:
    """Write the script of that seed; it asks the server at that port."""
    chance = random.Random(f"script {seed}")
    names = [only] if only else chance.sample(list(PARTS), chance.randint(2, 3))
    text = HEADER.replace("PORT", str(port)).replace("NAME", "all")
    functions = []
    for number, name in enumerate(names):
        function = f"{name}_{number}"
        limits = {"SHORT": chance.choice((0.005, 0.012, 0.02)), "LONG": chance.choice((0.02, 0.05, 0.4))}
        part = PARTS[name].replace("NAME", function)
        for word, limit in limits.items():
            part = part.replace(word, str(limit))
        text += part
        functions.append(function)
    together = len(functions) > 1 and chance.random() < 0.35 and "processes" not in names
    main = _TOGETHER if together else FOOTER
    return Script(seed, text + main.replace("PARTS", ", ".join(functions)), tuple(names))


def tight(text: str) -> str:
    """Return the text with threads that are switched every microsecond."""
    return text.replace("STATE = {}", "STATE = {}\nsys.setswitchinterval(1e-6)", 1)


def edits(script: Script, chance: random.Random, asked: str) -> Iterator[tuple[str, str, str]]:
    """Give edited texts, each with its kind and the question that it changes.

    It is the first question of a part that the recorded run has asked: whether a time limit ran out decides about some.

    Args:
        script: The script.
        chance: Chooses the part.
        asked: The text of the recording.
    """
    part = chance.choice(_functions(script.text))
    body = script.text[script.text.index(f"def {part}(") :]
    literals = [match.group(1) for match in CALL.finditer(body) if match.group(1).startswith(part)]
    literals = [one for one in literals if re.search(rf"{one.replace(' ', '%20')}\b", asked)]
    label = literals[0] if literals else ""
    if label:
        call = f'ask("{label}"'
        yield "literal", script.text.replace(call, f'ask("{label} changed"', 1), label
        yield "dropped", script.text.replace(call, f'(lambda *_: 1)("{label}"', 1), label


def _functions(text: str) -> list[str]:
    return re.findall(r"^def (\w+_\d)\(", text, re.MULTILINE)


_TOGETHER = """
if __name__ == "__main__":
    with ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(part) for part in (PARTS,)]:
            try:
                say(job.result())
            except Exception as error:
                say(repr(error))
    say(json.dumps(STATE, sort_keys=True, default=str))
"""
