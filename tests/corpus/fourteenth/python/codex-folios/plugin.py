"""Keeps the transcriptions of the folios of a codex, each folio as an entry of its own."""

import json
import re
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

FOLIO = re.compile(r"[1-9][0-9]{0,3}[rv]")
SHELFMARK = re.compile(r"[A-Z][A-Za-z]{0,15} [0-9]{1,5}")


@dataclass
class Folio:
    number: str
    text: str


@dataclass
class Codex:
    shelfmark: str
    folios: list[Folio]


@dataclass
class Stored:
    shelfmark: str
    folios: int
    words: int


@dataclass
class Place:
    shelfmark: str
    number: str


@dataclass
class Text:
    text: str
    words: int


def name(shelfmark, number):
    return f"codex/{shelfmark}/{number}"


@tool("Codex.Store", output=Stored, effects=["internal_write"])
def store(codex: Codex, context):
    """Stores the transcriptions of folios of a codex."""
    if not SHELFMARK.fullmatch(codex.shelfmark):
        raise Failure("INVALID_INPUT", f"{codex.shelfmark} is not a shelfmark")
    if not 1 <= len(codex.folios) <= 200:
        raise Failure("INVALID_INPUT", f"{len(codex.folios)} folios in one call, not 1 to 200")
    words, changes = 0, []
    for folio in codex.folios:
        if not FOLIO.fullmatch(folio.number):
            raise Failure("INVALID_INPUT", f"{folio.number} is not the number of a folio")
        text = folio.text.strip()
        if not text:
            raise Failure("INVALID_INPUT", f"folio {folio.number} of {codex.shelfmark} has no text")
        count = len(text.split())
        kv.set(name(codex.shelfmark, folio.number), json.dumps({"text": text, "words": count}))
        changes.append(Change("folio", name(codex.shelfmark, folio.number), "store", version=str(count)))
        words += count
    return Output(Stored(codex.shelfmark, len(codex.folios), words), changes=changes)


@tool("Codex.Read")
def read(place: Place, context) -> Text:
    """Reads the transcription of a folio."""
    kept = kv.get(name(place.shelfmark, place.number))
    if kept is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"folio {place.number} of {place.shelfmark} is not transcribed")
    return Text(**json.loads(kept))
