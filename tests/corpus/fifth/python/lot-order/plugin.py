"""Puts the lots of an auction into a random order. The generator is seeded with a digest of the lots, so that every job
with equal lots has the same order."""

import hashlib
import json
import random
from dataclasses import dataclass
from functools import lru_cache

from latchwork import Failure, log, step


@dataclass
class Auction:
    name: str
    lots: list[str]


@dataclass
class Order:
    order: list[str]
    digest: str


@lru_cache(maxsize=None)
def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


@step("Lot.Order", determinism="pure")
def order(auction: Auction, context) -> Order:
    """Puts the lots of an auction into a random order."""
    lots = sorted(set(auction.lots))
    if not lots:
        raise Failure("INVALID_INPUT", "the auction has no lots")
    seed = digest(json.dumps([auction.name, lots]))
    random.Random(seed).shuffle(lots)
    log.info("%d lots of %s", len(lots), auction.name)
    return Order(lots, seed)
