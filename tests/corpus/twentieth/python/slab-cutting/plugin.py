"""Cuts a stone slab into the pieces that sell best."""

import hashlib
import uuid
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, step

LONGEST = 60
SPACE = "slabs of the yard"


@dataclass
class Offer:
    length: int
    cents: int


@dataclass
class Slab:
    quarry: str
    length: int
    offers: list[Offer]


@dataclass
class Cut:
    id: str
    pieces: list[int]
    rest: int
    cents: int


@lru_cache(maxsize=None)
def best(length, offers):
    """Returns the highest price of a length and the first piece of that cut, or 0 if nothing is cut."""
    found = (0, 0)
    for piece, cents in offers:
        if piece <= length:
            price = cents + best(length - piece, offers)[0]
            if price > found[0]:
                found = (price, piece)
    return found


def checked(slab):
    """Returns the offers in the order of their lengths."""
    if not 1 <= slab.length <= LONGEST:
        raise Failure("INVALID_INPUT", f"a slab has 1 to {LONGEST} spans, not {slab.length}")
    if not 1 <= len(slab.offers) <= LONGEST:
        raise Failure("INVALID_INPUT", f"a slab needs 1 to {LONGEST} offers")
    for offer in slab.offers:
        if offer.length < 1 or not 0 <= offer.cents <= 10_000_000:
            raise Failure("INVALID_INPUT", f"the offer for {offer.length} spans is out of range")
    if len({offer.length for offer in slab.offers}) < len(slab.offers):
        raise Failure("INVALID_INPUT", "two offers have one length")
    return tuple(sorted((offer.length, offer.cents) for offer in slab.offers))


@step("Slab.Cut")
def cut(slab: Slab, context) -> Cut:
    """Finds the cut of a slab with the highest price, and names it by its content."""
    offers = checked(slab)
    pieces, rest = [], slab.length
    while (piece := best(rest, offers)[1]) > 0:
        pieces.append(piece)
        rest -= piece
    pieces.sort(reverse=True)
    digest = hashlib.sha256(f"{SPACE}\n{slab.quarry}\n{slab.length}\n{pieces}".encode()).digest()
    name = uuid.UUID(bytes=digest[:16], version=5)
    return Cut(str(name), pieces, rest, best(slab.length, offers)[0])
