import heapq
from dataclasses import dataclass

from latchwork import Failure, step

PIECE = {
    "type": "object",
    "properties": {
        "potter": {"type": "string", "minLength": 1, "maxLength": 60},
        "what": {"type": "string", "minLength": 1, "maxLength": 80},
        "degrees": {"type": "integer", "minimum": 700, "maximum": 1400},
        "litres": {"type": "integer", "minimum": 1, "maximum": 400},
        "days_waiting": {"type": "integer", "minimum": 0, "maximum": 365},
    },
    "required": ["potter", "what", "degrees", "litres", "days_waiting"],
    "additionalProperties": False,
}
INPUT = {
    "type": "object",
    "properties": {
        "kiln_litres": {"type": "integer", "minimum": 20, "maximum": 2000},
        "pieces": {"type": "array", "items": PIECE, "maxItems": 200},
    },
    "required": ["kiln_litres", "pieces"],
    "additionalProperties": False,
}

# Widest range of temperatures, in degrees, that one firing can serve.
RANGE = 20


@dataclass
class Firing:
    degrees: int
    litres: int
    pieces: list[str]


@dataclass
class Schedule:
    firings: list[Firing]
    longest_wait: int


def queued(pieces):
    """A queue of the pieces: the hottest first, then those that have waited longest."""
    queue = []
    for piece in pieces:
        # Dicts have no order, so a number comes before the piece.
        heapq.heappush(queue, (-piece["degrees"], -piece["days_waiting"], id(piece), piece))
    return queue


@step("Kiln.Schedule", input=INPUT)
def schedule(order: dict, context) -> Schedule:
    """Puts the pieces of a shared pottery into firings of one kiln."""
    room = order["kiln_litres"]
    for piece in order["pieces"]:
        if piece["litres"] > room:
            raise Failure("INVALID_INPUT", f"{piece['what']} of {piece['potter']} does not fit into the kiln")

    firings = []
    queue = queued(order["pieces"])
    while queue:
        degrees = -queue[0][0]
        loaded, litres, left = [], 0, []
        while queue:
            entry = heapq.heappop(queue)
            piece = entry[-1]
            if degrees - piece["degrees"] <= RANGE and litres + piece["litres"] <= room:
                loaded.append(f"{piece['potter']}: {piece['what']}")
                litres += piece["litres"]
            else:
                left.append(entry)
        firings.append(Firing(degrees, litres, loaded))
        queue = left
        heapq.heapify(queue)

    longest = max((piece["days_waiting"] for piece in order["pieces"]), default=0)
    return Schedule(firings, longest)
