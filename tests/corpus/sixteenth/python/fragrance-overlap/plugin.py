"""Compares two perfumes by the notes that they have in common."""

import math
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, step

MAX_NOTES = 80


@dataclass
class Perfume:
    name: str
    # Strength of each note, from 0.01 to 10.
    notes: dict[str, float]


@dataclass
class Pair:
    first: Perfume
    second: Perfume


@dataclass
class Overlap:
    shared: list[str]
    similarity: float
    verdict: Literal["twins", "related", "different"]
    sentence: str


@step("Fragrance.Compare")
def compare(pair: Pair, context) -> Overlap:
    """Says how much two perfumes smell alike, from 0 to 1."""
    first, second = cleaned(pair.first), cleaned(pair.second)
    shared = first.keys() & second.keys()
    total = 0.0
    for note in shared:
        total += first[note] * second[note]
    similarity = min(1.0, total / (length(first) * length(second)))
    verdict = "twins" if similarity > 0.9 else "related" if similarity > 0.4 else "different"
    print(f"{pair.first.name} and {pair.second.name}: {verdict}, {len(shared)} notes in common")
    names = sorted(shared)
    return Overlap(names, similarity, verdict, sentence(pair, names, verdict))


def cleaned(perfume):
    """Returns the notes of a perfume in lower case. Notes that differ only in case are one note."""
    if not perfume.notes:
        raise Failure("INVALID_INPUT", f"{perfume.name} has no notes")
    if len(perfume.notes) > MAX_NOTES:
        raise Failure("INVALID_INPUT", f"{perfume.name} has more than {MAX_NOTES} notes")
    notes = {}
    for note, strength in sorted(perfume.notes.items()):
        if not 0.01 <= strength <= 10:
            raise Failure("INVALID_INPUT", f"the strength of {note} in {perfume.name} is not from 0.01 to 10")
        name = note.strip().lower()
        notes[name] = max(strength, notes.get(name, 0.0))
    return notes


def length(notes):
    return math.sqrt(sum(strength * strength for strength in notes.values()))


def sentence(pair, shared, verdict):
    if not shared:
        return f"{pair.first.name} and {pair.second.name} have no note in common."
    kind = {"twins": "are nearly the same", "related": "are related", "different": "differ"}[verdict]
    return f"{pair.first.name} and {pair.second.name} {kind}. Both have {', '.join(shared[:5])}."
