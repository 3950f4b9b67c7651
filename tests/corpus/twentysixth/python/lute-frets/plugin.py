from dataclasses import dataclass
from functools import cache

from latchwork import Failure, config, tool


@dataclass
class Neck:
    scale_mm: float
    frets: int
    temperament: str


@dataclass
class Frets:
    temperament: str
    positions_mm: list[float]
    gaps_mm: list[float]


@cache
def ratio(semitone, cents):
    """Returns the part of the string that sounds at a fret. Computed once for each fret of a neck."""
    return 2 ** (-(semitone * 100 + cents) / 1200)


@tool("Lute.Frets", determinism="pure")
def frets(neck: Neck, context) -> Frets:
    """Computes where the gut frets of a lute are tied, in equal temperament or one of the workshop's own."""
    if not 100 <= neck.scale_mm <= 2000:
        raise Failure("INVALID_INPUT", f"a string of {neck.scale_mm} mm fits no lute")
    if not 1 <= neck.frets <= 24:
        raise Failure("INVALID_INPUT", f"a neck has 1 to 24 frets, not {neck.frets}")
    if neck.temperament == "equal":
        cents = [0] * 12
    else:
        cents = config.get("temperaments", {}).get(neck.temperament)
        if cents is None:
            raise Failure("MISSING_REQUIRED_CONTEXT", f"the workshop has no temperament {neck.temperament}")
        if len(cents) != 12:
            raise Failure("MISSING_REQUIRED_CONTEXT", f"the temperament {neck.temperament} has {len(cents)} notes instead of 12")

    positions = [neck.scale_mm * (1 - ratio(fret, cents[fret % 12])) for fret in range(1, neck.frets + 1)]
    gaps = [b - a for a, b in zip([0.0] + positions, positions)]
    return Frets(neck.temperament, [round(one, 2) for one in positions], [round(one, 2) for one in gaps])
