from dataclasses import dataclass

from latchwork import Failure, step

# Native capacity of a cartridge, in bytes.
CAPACITY = {
    "LTO-6": 2_500_000_000_000,
    "LTO-7": 6_000_000_000_000,
    "LTO-8": 12_000_000_000_000,
    "LTO-9": 18_000_000_000_000,
}


@dataclass
class Tape:
    barcode: str
    generation: str
    used_bytes: int


@dataclass
class Library:
    name: str
    tapes: list[Tape]


@dataclass
class Generation:
    generation: str
    tapes: int
    used_bytes: int
    free_bytes: int


@dataclass
class Report:
    name: str
    generations: list[Generation]
    used_bytes: int
    free_bytes: int
    used_percent: int
    full: list[str]


def check(tape, seen):
    if tape.generation not in CAPACITY:
        raise Failure("INVALID_INPUT", f"tape {tape.barcode} has the unknown generation {tape.generation}")
    if not 0 <= tape.used_bytes <= CAPACITY[tape.generation]:
        raise Failure("INVALID_INPUT", f"tape {tape.barcode} does not hold {tape.used_bytes} bytes")
    if tape.barcode in seen:
        raise Failure("INVALID_INPUT", f"tape {tape.barcode} is in the list twice")
    seen.add(tape.barcode)


@step("Tapes.Report")
def report(library: Library, context) -> Report:
    """Reports how full the cartridges of a tape library are."""
    seen = set()
    for tape in library.tapes:
        check(tape, seen)
    generations = []
    for name, capacity in CAPACITY.items():
        tapes = [tape for tape in library.tapes if tape.generation == name]
        if tapes:
            used = sum(tape.used_bytes for tape in tapes)
            generations.append(Generation(name, len(tapes), used, capacity * len(tapes) - used))
    used = sum(each.used_bytes for each in generations)
    free = sum(each.free_bytes for each in generations)
    percent = used * 100 // (used + free) if generations else 0
    # A cartridge counts as full when less than one percent is free.
    full = [tape.barcode for tape in library.tapes if tape.used_bytes * 100 > CAPACITY[tape.generation] * 99]
    return Report(library.name, generations, used, free, percent, sorted(full))
