"""Randomized blocks of a field trial. The same seed gives the same layout."""

import functools
import hashlib
import random
from dataclasses import dataclass
from datetime import date, timedelta

from latchwork import Failure, log, step


@dataclass
class Trial:
    seed: str
    treatments: list[str]
    blocks: int
    sown_on: str


@dataclass
class Layout:
    blocks: list[list[str]]
    neighbours: int
    visits: list[str]
    checksum: str


@functools.lru_cache(maxsize=None)
def borders(left, right):
    return tuple(a == b for a, b in zip(left, right)).count(True)


def generator(trial):
    """A generator that depends on the seed and on nothing else."""
    digest = hashlib.sha256(trial.seed.encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def parsed(text):
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or not 1900 <= day.year <= 2200:
        raise Failure("INVALID_INPUT", f"sown_on is not a date: {text}")
    return day


@step("Trial.LayOut")
def lay_out(trial: Trial, context) -> Layout:
    """Lays out the blocks, and shuffles a block again if it borders on its own treatment too often."""
    if not 2 <= len(trial.treatments) <= 20 or len(set(trial.treatments)) != len(trial.treatments):
        raise Failure("INVALID_INPUT", "expected 2 to 20 different treatments")
    if not 1 <= trial.blocks <= 30:
        raise Failure("INVALID_INPUT", "expected 1 to 30 blocks")
    sown = parsed(trial.sown_on)
    dice = generator(trial)
    blocks, neighbours = [], 0
    for number in range(trial.blocks):
        tries = []
        for _ in range(5):
            block = tuple(dice.sample(trial.treatments, len(trial.treatments)))
            tries.append((borders(blocks[-1], block) if blocks else 0, block))
            if tries[-1][0] == 0:
                break
        shared, block = min(tries)
        log.debug("block %d: %d tries", number, len(tries))
        neighbours += shared
        blocks.append(block)
    visits = [(sown + timedelta(weeks=weeks)).isoformat() for weeks in sorted({2, 6, 12})]
    checksum = hashlib.sha256(repr(blocks).encode("utf-8")).hexdigest()
    return Layout([list(block) for block in blocks], neighbours, visits, checksum)
