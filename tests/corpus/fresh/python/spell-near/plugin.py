from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step

LONGEST = 40


@dataclass
class Question:
    word: str
    dictionary: list[str]


@dataclass
class Near:
    words: list[str]
    distance: int


@lru_cache(maxsize=None)
def _distance(a, b):
    """Edits between two words. The depth is at most the sum of their lengths."""
    if not a or not b:
        return len(a) + len(b)
    if a[-1] == b[-1]:
        return _distance(a[:-1], b[:-1])
    return 1 + min(_distance(a[:-1], b), _distance(a, b[:-1]), _distance(a[:-1], b[:-1]))


@step("Word.Near", determinism="pure")
def near(question: Question, context) -> Near:
    """Finds the words of a dictionary that are nearest to a word."""
    known = {word.casefold() for word in question.dictionary}
    wanted = question.word.casefold()
    if not known or any(len(word) > LONGEST for word in known | {wanted}):
        raise Failure("INVALID_INPUT", f"the dictionary is empty, or a word has more than {LONGEST} letters")
    distances = {word: _distance(wanted, word) for word in known}
    least = min(distances.values())
    # The order of a set is no order of the result.
    return Near(sorted(word for word in known if distances[word] == least), least)
