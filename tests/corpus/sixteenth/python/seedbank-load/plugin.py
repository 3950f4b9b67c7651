"""Loads the accessions of a seed bank: pages of rows, and a cover that makes them visible."""

import hashlib
import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool

MAX_ROWS = 2000
ROWS_ON_PAGE = 60
MAX_FIELD = 80


@dataclass
class Accession:
    number: str
    species: str
    grams: int


@dataclass
class Shipment:
    sender: str
    accessions: list[Accession]


@dataclass
class Loaded:
    load: str
    rows: int
    pages: int


@dataclass
class Place:
    load: str
    row: int


@dataclass
class Found:
    number: Optional[str]
    species: Optional[str]


def page_of(key, number):
    return f"page/{key}/{number}"


def cover_of(key):
    return f"cover/{key}"


def digest(pages):
    return hashlib.sha256(b"\n".join(pages)).hexdigest()


@tool("Seedbank.Load", output=Loaded, effects=["internal_write"], idempotent_by_key_seconds=86_400)
def load(shipment: Shipment, context):
    """Loads the accessions of a shipment under one number."""
    rows = [[one.number, one.species, one.grams] for one in shipment.accessions]
    if not rows or len(rows) > MAX_ROWS:
        raise Failure("INVALID_INPUT", f"a shipment has 1 to {MAX_ROWS} accessions")
    if not all(len(one.number) <= MAX_FIELD and len(one.species) <= MAX_FIELD for one in shipment.accessions):
        raise Failure("INVALID_INPUT", f"a field of an accession has more than {MAX_FIELD} characters")
    if not 0 < len(shipment.sender) <= MAX_FIELD:
        raise Failure("INVALID_INPUT", f"the name of a sender has 1 to {MAX_FIELD} characters")
    starts = range(0, len(rows), ROWS_ON_PAGE)
    pages = [json.dumps(rows[at : at + ROWS_ON_PAGE], ensure_ascii=False).encode() for at in starts]
    key = context.external_key
    cover = {"sender": shipment.sender, "rows": len(rows), "pages": len(pages)}
    entries = [(page_of(key, number), page) for number, page in enumerate(pages)]
    for at, (name, text) in enumerate([*entries, (cover_of(key), json.dumps(cover).encode())]):
        try:
            kv.set(name, text)
        except Failure as failure:
            applied = failure.applied if at == 0 else "unknown"
            raise Failure(failure.code, f"{name}: {failure.message}", applied=applied) from failure
    change = Change("shipment", key, "create", version=digest(pages))
    return Output(Loaded(key, len(rows), len(pages)), changes=[change])


@load.verify
def check(change):
    cover = kv.get(cover_of(change.resource_id))
    if cover is None:
        return "the cover is missing"
    pages = [kv.get(page_of(change.resource_id, number)) for number in range(json.loads(cover)["pages"])]
    if None in pages:
        return f"page {pages.index(None)} is missing"
    return True if digest(pages) == change.version else "the pages have another content"


@tool("Seedbank.Find", output=Found, effects=["read_only"])
def find(place: Place, context):
    """Returns one accession of a shipment."""
    key = place.load
    cover = kv.get(cover_of(key))
    if cover is None or not 0 <= place.row < json.loads(cover)["rows"]:
        return Found(None, None)
    page = kv.get(page_of(key, place.row // ROWS_ON_PAGE))
    if page is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"the page of row {place.row} is missing")
    number, species, _ = json.loads(page)[place.row % ROWS_ON_PAGE]
    return Found(number, species)
