"""Joins the surveyed pieces of a water main to one run."""

from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Piece:
    start: str
    end: str
    length_cm: int
    diameter_mm: int


@dataclass
class Main:
    pieces: list[Piece]


@dataclass
class Run:
    start: str
    end: str
    length_cm: int
    joints: int


class Segment:
    """A stretch of the main without a gap."""

    def __init__(self, piece):
        if piece.length_cm <= 0 or piece.diameter_mm <= 0:
            raise Failure("INVALID_INPUT", f"{piece.start}-{piece.end}: length and diameter have to be positive")
        self.start, self.end = piece.start, piece.end
        self.length, self.diameter = piece.length_cm, piece.diameter_mm

    def meets(self, other):
        return self.end == other.start

    def extend(self, other):
        self.end = other.end
        self.length += other.length


@step("Main.Join")
def join(main: Main, context) -> Run:
    """Joins pieces in the order of the survey."""
    if not 1 <= len(main.pieces) <= 1000 or any(piece.length_cm > 1_000_000 for piece in main.pieces):
        raise Failure("INVALID_INPUT", "expected 1 to 1000 pieces of at most 10 km")
    run, *rest = [Segment(piece) for piece in main.pieces]
    for segment in rest:
        if not run.meets(segment):
            raise Failure("INVALID_INPUT", f"there is a gap between {run} and {segment}")
        if run.diameter != segment.diameter:
            raise Failure("INVALID_INPUT", f"{run.end}: a reducer is missing")
        run.extend(segment)
    return Run(run.start, run.end, run.length, len(rest))
