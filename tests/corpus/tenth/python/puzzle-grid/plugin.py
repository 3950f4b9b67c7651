import hashlib
import random
from collections import Counter
from dataclasses import dataclass

from latchwork import Failure, step

# Alphabets by the letters that they leave out. A table saves work within a run.
alphabets = {}


@dataclass
class Order:
    words: list[str]
    size: int
    edition: str


@dataclass
class Grid:
    rows: list[str]
    placed: list[str]
    left_out: list[str]
    frequent: list[str]
    checksum: str


def alphabet(without):
    if without not in alphabets:
        alphabets[without] = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in without]
    return alphabets[without]


@step("Puzzle.Grid")
def grid(order: Order, context) -> Grid:
    """Makes a word search. The same order gives the same grid, so that an edition can be printed again."""
    if not 4 <= order.size <= 24 or len(order.words) > 40:
        raise Failure("INVALID_INPUT", "a grid has 4 to 24 rows and at most 40 words")
    words = sorted({word.upper() for word in order.words}, key=lambda word: (-len(word), word))
    if any(not (word.isascii() and word.isalpha()) for word in words):
        raise Failure("INVALID_INPUT", "a word has letters from A to Z only")
    chance = random.Random(f"{order.edition}/{order.size}/{','.join(words)}")
    rows = [[None] * order.size for _ in range(order.size)]
    placed = []
    for word in words:
        for _ in range(50):
            if len(word) > order.size:
                break
            row, column = chance.randrange(order.size), chance.randrange(order.size - len(word) + 1)
            if all(rows[row][column + i] in (None, letter) for i, letter in enumerate(word)):
                rows[row][column : column + len(word)] = word
                placed.append(word)
                break
    fill = alphabet("QXY")
    lines = ["".join(cell or chance.choice(fill) for cell in row) for row in rows]
    counts = Counter("".join(lines))
    frequent = sorted(counts, key=lambda letter: (-counts[letter], letter))[:3]
    left_out = [word for word in words if word not in set(placed)]
    checksum = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return Grid(lines, placed, left_out, frequent, checksum)
