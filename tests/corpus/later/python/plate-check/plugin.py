from dataclasses import dataclass

from latchwork import Failure, step

WEIGHTS = (9, 8, 7, 6, 5, 4, 3, 2)


@dataclass
class Plates:
    plates: list[str]


@dataclass
class Checked:
    plate: str
    digits: int
    check: str


@dataclass
class Report:
    plates: list[Checked]


def value(char):
    """Returns the value of a character of a plate: digits count as themselves, letters from 10."""
    if char.isdigit():
        return int(char)
    if char.isalpha():
        return ord(char.upper()) % 64 + 9
    return 0


def check(plate: str) -> Checked:
    chars = [char for char in plate if char.isalnum()]
    if not 2 <= len(chars) <= len(WEIGHTS):
        raise Failure("INVALID_INPUT", f"{plate!r} has {len(chars)} letters and digits")
    total = sum(weight * value(char) for weight, char in zip(WEIGHTS, chars))
    digits = sum(1 for char in chars if char.isdigit())
    return Checked("".join(chars).upper(), digits, "0123456789X"[total % 11])


@step("Plate.Check", determinism="pure")
def check_all(plates: Plates, context) -> Report:
    """Computes the check characters of number plates."""
    if not plates.plates:
        raise Failure("INVALID_INPUT", "there are no plates")
    return Report([check(plate) for plate in plates.plates])
