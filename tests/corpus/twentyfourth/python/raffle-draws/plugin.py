"""Draws the prizes of a village raffle. Everyone can repeat the draw from the list of the tickets."""

import hashlib
import json
import random

from latchwork import Failure, step

INPUT = {
    "type": "object",
    "properties": {
        "raffle": {"type": "string", "minLength": 1, "maxLength": 80},
        "tickets": {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 5000},
        "prizes": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 80}, "minItems": 1, "maxItems": 100},
    },
    "required": ["raffle", "tickets", "prizes"],
    "additionalProperties": False,
}
WINNER = {
    "type": "object",
    "properties": {"prize": {"type": "string"}, "name": {"type": "string"}, "stub": {"type": "string"}},
    "required": ["prize", "name", "stub"],
    "additionalProperties": False,
}
OUTPUT = {
    "type": "object",
    "properties": {"names": {"type": "integer"}, "winners": {"type": "array", "items": WINNER}},
    "required": ["names", "winners"],
    "additionalProperties": False,
}

# Stubs by name. A name may win in several raffles of one evening.
stubs = {}


def stub(name):
    """Six characters that the winner compares with the stub of the ticket."""
    if name not in stubs:
        stubs[name] = hashlib.sha256(name.encode()).hexdigest()[:6]
    return stubs[name]


@step("Raffle.Draw", input=INPUT, output=OUTPUT)
def draw(raffle, context):
    """Draws a winner for each prize. A name wins at most one prize."""
    names = sorted({" ".join(ticket.split()) for ticket in raffle["tickets"]} - {""})
    prizes = raffle["prizes"]
    if len(prizes) > len(names):
        raise Failure("INVALID_INPUT", f"{len(prizes)} prizes for {len(names)} names")
    drum = json.dumps([raffle["raffle"], names]).encode()
    generator = random.Random(int.from_bytes(hashlib.sha256(drum).digest(), "big"))
    drawn = generator.sample(names, len(prizes))
    return {
        "names": len(names),
        "winners": [{"prize": prize, "name": name, "stub": stub(name)} for prize, name in zip(prizes, drawn)],
    }
