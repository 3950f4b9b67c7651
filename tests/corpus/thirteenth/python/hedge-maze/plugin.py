"""Draws the plan of a hedge maze from a seed, and finds the way to its centre."""

import random
from collections import deque
from dataclasses import dataclass

from latchwork import Failure, log, step

SIDES = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
PLANTS = ["beech", "box", "hornbeam", "privet", "yew"]
# Neighbouring mazes get different hedges. The order was drawn once and has to stay.
random.Random(1690).shuffle(PLANTS)


@dataclass
class Garden:
    width: int
    height: int
    seed: int


@dataclass
class Maze:
    rows: list[str]
    hedge: str
    dead_ends: int
    steps_to_centre: int


def carve(width, height, draw):
    """Returns the open sides of each cell. Keeps its way in a list, so that a large maze needs no deep stack."""
    start = (draw.randrange(width), 0)
    open_sides, way = {start: set()}, [start]
    while way:
        x, y = way[-1]
        free = []
        for side, (dx, dy) in SIDES.items():
            cell = (x + dx, y + dy)
            if 0 <= cell[0] < width and 0 <= cell[1] < height and cell not in open_sides:
                free.append((side, cell))
        if not free:
            way.pop()
            continue
        side, cell = draw.choice(free)
        open_sides[x, y].add(side)
        open_sides[cell] = {"NESW"[("NESW".index(side) + 2) % 4]}
        way.append(cell)
    return start, open_sides


def distance(start, goal, open_sides):
    waiting, seen = deque([(start, 0)]), {start}
    while waiting:
        (x, y), far = waiting.popleft()
        if (x, y) == goal:
            return far
        for side in open_sides[x, y]:
            cell = (x + SIDES[side][0], y + SIDES[side][1])
            if cell not in seen:
                seen.add(cell)
                waiting.append((cell, far + 1))
    raise AssertionError("a maze without a way")


@step("Maze.Draw")
def draw_maze(garden: Garden, context) -> Maze:
    """Draws a maze."""
    if not (2 <= garden.width <= 30 and 2 <= garden.height <= 30):
        raise Failure("INVALID_INPUT", "a maze has 2 to 30 cells on each side")
    start, open_sides = carve(garden.width, garden.height, random.Random(garden.seed))
    rows = []
    for y in range(garden.height):
        rows.append(" ".join("".join(sorted(open_sides[x, y])) for x in range(garden.width)))
    centre = (garden.width // 2, garden.height // 2)
    dead_ends = sum(len(sides) == 1 for sides in open_sides.values())
    log.info("%d x %d, %d dead ends", garden.width, garden.height, dead_ends)
    return Maze(rows, PLANTS[garden.seed % len(PLANTS)], dead_ends, distance(start, centre, open_sides))
