"""Finds what the answers of a survey are about: the words that occur in the most answers."""

import heapq  # noqa: F401  (most_common imports it, and a component has no files to import from)
import re
from collections import Counter
from dataclasses import dataclass

from latchwork import Failure, log, step

COMMON = frozenset(
    "a an and are as at be but by for from had has have i in is it its me my no not of on or our so that the their they "
    "this to very was we were with you your".split()
)
WORD = re.compile(r"[a-zäöüß]+(?:-[a-zäöüß]+)*")
ENDINGS = ("ings", "ing", "ies", "es", "s")


@dataclass
class Survey:
    question: str
    answers: list[str]
    most: int = 5


@dataclass
class Theme:
    word: str
    answers: int
    percent: int


@dataclass
class Themes:
    question: str
    counted: int
    themes: list[Theme]


def stem(word):
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def words(answer):
    """Returns the words of an answer, each of them once: a word that is repeated counts once."""
    return {stem(word) for word in WORD.findall(answer.lower()) if word not in COMMON}


@step("Survey.Themes")
def themes(survey: Survey, context) -> Themes:
    """Finds the words that occur in the most answers."""
    if not 1 <= survey.most <= 50:
        raise Failure("INVALID_INPUT", f"{survey.most} themes cannot be asked for: 1 to 50")
    counts = Counter()
    counted = 0
    for answer in survey.answers:
        said = words(answer)
        if said:
            counts.update(said)
            counted += 1
    if not counted:
        return Themes(survey.question, 0, [])
    found = [
        Theme(word, number, round(100 * number / counted))
        for word, number in counts.most_common(survey.most)
    ]
    log.info("%s: %d answers, %d words", survey.question, counted, len(counts))
    return Themes(survey.question, counted, found)
