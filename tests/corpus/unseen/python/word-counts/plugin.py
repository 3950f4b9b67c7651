import math
import re
from collections import Counter
from dataclasses import dataclass

from latchwork import step

WORD = re.compile(r"[^\W\d_]+")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass
class Text:
    text: str


@dataclass
class Counts:
    words: list[str]
    initials: str
    most: list[list[str]]
    sum: float


@step("Words.Count", determinism="pure")
def count(text: Text, context) -> Counts:
    """Counts the words of a text and adds its numbers."""
    words = [word.casefold() for word in WORD.findall(text.text)]
    distinct = set(words)
    initials = "".join(sorted({word[0] for word in distinct}))
    ranked = sorted(Counter(words).items(), key=lambda entry: (-entry[1], entry[0]))
    numbers = {float(number) for number in NUMBER.findall(text.text)}
    # fsum is exact, so the order of the set does not matter.
    return Counts(sorted(distinct), initials, [[word, str(n)] for word, n in ranked[:5]], math.fsum(numbers))
