"""Finds the yarns for a weaving draft: the most used colours first, each with the yarn that a shop has for it."""

from collections import Counter
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step, tools

MAX_COLOURS = 200


@dataclass
class Draft:
    """Rows of a draft, each a list of colour codes, one for each warp thread."""

    rows: list[list[str]]
    shop: str


@dataclass
class Yarn:
    colour: str
    threads: int
    yarn: Optional[str]


@dataclass
class Palette:
    yarns: list[Yarn]
    missing: list[str]


def cleaned(rows):
    """Returns the colour codes in capitals. An empty code is a gap in the draft and is left out."""
    return [[code.strip().upper() for code in row if code.strip()] for row in rows]


@step("Palette.Resolve", determinism="external")
def resolve(draft: Draft, context) -> Palette:
    """Finds a yarn for each colour of a weaving draft."""
    rows = cleaned(draft.rows)
    threads = Counter(code for row in rows for code in row)
    if not threads:
        raise Failure("INVALID_INPUT", "the draft has no colours")
    if len(threads) > MAX_COLOURS:
        raise Failure("INVALID_INPUT", f"the draft has {len(threads)} colours, at most {MAX_COLOURS} are possible")

    used = set()
    for row in rows:
        used.update(row)
    colours = sorted(used, key=lambda code: threads[code], reverse=True)

    answers = tools.call_all([("Yarn.Find", {"shop": draft.shop, "colour": code}) for code in colours])
    yarns, missing = [], []
    for code, answer in zip(colours, answers):
        # One colour that the shop does not know is no reason to give up the others.
        yarn = answer.get("yarn") if isinstance(answer, dict) else None
        if not isinstance(yarn, str):
            yarn = None
            missing.append(code)
        yarns.append(Yarn(code, threads[code], yarn))
    return Palette(yarns, missing)
