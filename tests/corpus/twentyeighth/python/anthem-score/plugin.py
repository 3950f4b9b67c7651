"""Parts of a score that an orchestra ordered: the order names the file by its SHA-256, and any other file is refused."""

import hashlib
from dataclasses import dataclass

from latchwork import Failure, log, step, tools


@dataclass
class Order:
    url: str
    sha256: str
    parts: list[str]


@dataclass
class Part:
    part: str
    bars: int
    notes: int


@dataclass
class Parts:
    title: str
    parts: list[Part]
    missing: list[str]


def fetched(order):
    """Returns the ordered file. The text of a failed call is not repeated: it is not part of the order."""
    try:
        text = tools.call("Score.Fetch", {"url": order.url})["text"]
    except Failure:
        text = None
    if text is None:
        raise Failure("DEPENDENCY_UNAVAILABLE", "the score could not be fetched")
    if hashlib.sha256(text.encode()).hexdigest() != order.sha256.lower():
        raise Failure("DEPENDENCY_UNAVAILABLE", "the server has another score than the ordered one")
    return text


def read(text):
    """Splits a score: its title in the first line, then for each part a line `[part]` and lines of bars."""
    title, *rest = text.splitlines() or [""]
    parts, current = {}, None
    for line in rest:
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            current = parts.setdefault(line[1:-1].casefold(), [])
        elif line and current is not None:
            current.extend(bar.split() for bar in line.split("|") if bar.strip())
    return title.strip(), parts


# The output follows from the order alone, because the order fixes every byte of the file.
@step("Parts.Extract", determinism="pure")
def extract(order: Order, context) -> Parts:
    """Extracts the ordered parts of a score."""
    if len(order.sha256) != 64 or set(order.sha256.lower()) - set("0123456789abcdef"):
        raise Failure("INVALID_INPUT", "sha256 is no SHA-256")
    title, parts = read(fetched(order))
    wanted = list(dict.fromkeys(part.casefold() for part in order.parts))
    log.info("%s: %d of %d parts", title, sum(part in parts for part in wanted), len(parts))
    found = [
        Part(part, len(parts[part]), sum(note != "-" for bar in parts[part] for note in bar))
        for part in wanted if part in parts
    ]
    return Parts(title, found, [part for part in wanted if part not in parts])
