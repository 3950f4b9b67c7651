"""Makes a lexicon of the words of a transcribed scroll. The scroll is pinned by its SHA-256."""

import hashlib
import random
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step, tools

ENDINGS = ("ing", "eth", "est", "ed", "es", "s")
LETTERS = re.compile(r"[a-z]+")


@dataclass
class Scroll:
    path: str
    sha256: str
    samples: int = 3


@dataclass
class Word:
    stem: str
    count: int
    forms: list[str]
    columns: list[int]


@dataclass
class Lexicon:
    path: str
    words: int
    entries: list[Word]
    samples: list[str]


# The input fixes the answer of the called tool, because another content ends the step.
@step("Scroll.Lexicon")
def lexicon(scroll: Scroll, context) -> Lexicon:
    """Lists the words of a scroll by stem, with their columns."""
    answer = tools.call("Archive.Read", {"path": scroll.path})
    text = answer.get("text") if isinstance(answer, dict) else None
    if not isinstance(text, str) or hashlib.sha256(text.encode()).hexdigest() != scroll.sha256.lower():
        raise Failure("INVALID_INPUT", f"{scroll.path} is not the scroll with the SHA-256 {scroll.sha256}")
    counts, forms, columns = Counter(), {}, {}
    for column, part in enumerate(text.split("\f"), 1):
        for form in LETTERS.findall(part.lower()):
            key = stem(form)
            counts[key] += 1
            forms.setdefault(key, set()).add(form)
            columns.setdefault(key, set()).add(column)
    ranked = sorted(counts, key=lambda key: (-counts[key], key))
    entries = [Word(key, counts[key], sorted(forms[key]), sorted(columns[key])) for key in ranked]
    # A generator with a seed of the input gives the same sample in each job.
    chooser = random.Random(scroll.sha256.lower())
    lines = [line.strip() for line in re.split(r"[\f\n]", text) if line.strip()]
    samples = chooser.sample(lines, max(0, min(scroll.samples, len(lines))))
    return Lexicon(scroll.path, sum(counts.values()), entries, samples)


@lru_cache(maxsize=None)
def stem(form):
    """Removes one ending. The table of the cache saves work within one run."""
    for ending in ENDINGS:
        if form.endswith(ending) and len(form) - len(ending) >= 3:
            return form[: -len(ending)]
    return form
