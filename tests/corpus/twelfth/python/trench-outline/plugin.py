"""Turns the indented notes of an excavation into a tree of layers and finds."""

import re
from dataclasses import dataclass

from latchwork import Failure, log, step

LINE = re.compile(r"( *)([A-Z]?\d{1,6})(?:\s*[:.]\s*|\s+|$)(.*)")
INDENT = 2
MAX_LINES = 5_000

TREE = {
    "type": "object",
    "properties": {
        "trench": {"type": "string"},
        "units": {"type": "integer"},
        "layers": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["trench", "units", "layers"],
    "additionalProperties": False,
}


@dataclass
class Notes:
    """Notes of one trench. Each line is a unit number and a text, two spaces deeper than the unit that contains it."""

    trench: str
    text: str


def parsed(text):
    """Yields level, unit number and note of each line that is not empty."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        found = LINE.fullmatch(line.rstrip().expandtabs(INDENT))
        if not found:
            raise Failure("INVALID_INPUT", f"line {number} does not begin with a unit number")
        spaces = len(found[1])
        if spaces % INDENT:
            raise Failure("INVALID_INPUT", f"line {number} is indented by {spaces} spaces, not by a multiple of {INDENT}")
        yield number, spaces // INDENT, found[2], found[3].strip()


@step("Trench.Outline", output=TREE)
def outline(notes: Notes, context):
    """Makes a tree of the units of a trench."""
    if notes.text.count("\n") > MAX_LINES:
        raise Failure("INVALID_INPUT", f"the notes have more than {MAX_LINES} lines")
    layers, seen = [], set()
    # The lists of children on the way from the surface to the present line.
    path = [layers]
    for number, level, unit, note in parsed(notes.text):
        if unit in seen:
            raise Failure("INVALID_INPUT", f"line {number}: unit {unit} is listed twice")
        if level >= len(path):
            raise Failure("INVALID_INPUT", f"line {number}: unit {unit} skips a level")
        seen.add(unit)
        node = {"unit": unit, "note": note, "contains": []}
        path[level].append(node)
        del path[level + 1 :]
        path.append(node["contains"])
    log.info("%s: %d units", notes.trench, len(seen))
    return {"trench": notes.trench, "units": len(seen), "layers": layers}
