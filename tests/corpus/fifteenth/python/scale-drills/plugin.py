import random
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, config, tool

NOTES = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]
STEPS = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10), "pentatonic": (0, 2, 4, 7, 9)}

# Notes of a scale by root and mode, computed at first use in a run.
scales = {}


@dataclass
class Wish:
    root: Literal["C", "D", "E", "F", "G", "A", "B"]
    mode: Literal["major", "minor", "pentatonic"]
    bars: int
    sheet: int


@dataclass
class Drill:
    title: str
    notes_used: list[str]
    bars: list[str]


def scale(root, mode):
    """Returns the notes of a scale."""
    if (root, mode) not in scales:
        first = NOTES.index(root)
        scales[root, mode] = [NOTES[(first + step) % 12] for step in STEPS[mode]]
    return scales[root, mode]


# The sheet number is the seed, so the same sheet can be printed again at any time.
@tool("Scale.Drill", effects=["read_only"], determinism="pure")
def drill(wish: Wish, context) -> Drill:
    """Makes a numbered sheet of sight-reading drills in a scale."""
    if not 1 <= wish.bars <= 64:
        raise Failure("INVALID_INPUT", f"a sheet has 1 to 64 bars, not {wish.bars}")
    if wish.sheet < 1:
        raise Failure("INVALID_INPUT", "sheets are numbered from 1")
    beats = config.get("beats", 4)
    if type(beats) is not int or not 2 <= beats <= 12:
        raise Failure("MISSING_REQUIRED_CONTEXT", "beats in the config of the plugin must be 2 to 12")
    notes = scale(wish.root, wish.mode)
    generator = random.Random(wish.sheet)
    at = generator.randrange(len(notes))
    bars = []
    for _ in range(wish.bars):
        bar = []
        for _ in range(beats):
            # A drill moves by at most two notes of the scale.
            at = min(max(at + generator.choice((-2, -1, 1, 2)), 0), len(notes) - 1)
            bar.append(notes[at])
        bars.append(" ".join(bar))
    used = {note for bar in bars for note in bar.split()}
    return Drill(f"{wish.root} {wish.mode}, sheet {wish.sheet}", sorted(used), bars)
