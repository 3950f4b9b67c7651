"""Finds a shortest ladder between two words, and draws three further words with a seed from the input. Sets are used
for membership alone, and every order is that of the input or of the alphabet."""

import hashlib
import random
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step


@dataclass
class Ladder:
    words: list[str]
    start: str
    end: str
    seed: int


@dataclass
class Found:
    ladder: list[str]
    extra: list[str]
    digest: str


@lru_cache(maxsize=None)
def near(a, b):
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b)) == 1


@step("Word.Ladder", determinism="pure")
def ladder(task: Ladder, context) -> Found:
    """Finds a shortest ladder from one word to another."""
    words = sorted(set(task.words))[:300]
    known = frozenset(words)
    if task.start not in known or task.end not in known:
        raise Failure("INVALID_INPUT", "start or end is not in the list")
    before = {task.start: None}
    waiting = [task.start]
    for word in waiting:
        for other in words:
            if other not in before and near(word, other):
                before[other] = word
                waiting.append(other)
    if task.end not in before:
        raise Failure("INVALID_INPUT", f"no ladder leads to {task.end}")
    path = [task.end]
    while before[path[-1]] is not None:
        path.append(before[path[-1]])
    rest = sorted(known - set(path))
    extra = random.Random(task.seed).sample(rest, min(3, len(rest)))
    return Found(path[::-1], extra, hashlib.sha256(" ".join(words).encode()).hexdigest()[:12])
