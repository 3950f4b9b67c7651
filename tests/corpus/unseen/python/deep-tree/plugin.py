import math
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step

DEEPEST = 250


@dataclass
class Part:
    id: str
    parent: Optional[str]
    cost: float


@dataclass
class Parts:
    parts: list[Part]


@dataclass
class Costs:
    total: float
    depth: int
    dearest: list[str]


@step("Parts.Cost", determinism="pure")
def cost(parts: Parts, context) -> Costs:
    """Adds the costs of a tree of parts."""
    children, sums = {}, {}
    for part in parts.parts:
        children.setdefault(part.parent, []).append(part)

    def walk(part, depth):
        if depth > DEEPEST:
            raise Failure("INVALID_INPUT", f"the tree has more than {DEEPEST} levels")
        below = [walk(child, depth + 1) for child in children.get(part.id, [])]
        sums[part.id] = math.fsum([part.cost, *(total for total, _ in below)])
        return sums[part.id], max((deep for _, deep in below), default=depth)

    roots = [walk(part, 1) for part in children.get(None, [])]
    dearest = sorted(sums, key=lambda id: (-sums[id], id))[:5]
    return Costs(math.fsum(total for total, _ in roots), max((deep for _, deep in roots), default=0), dearest)
