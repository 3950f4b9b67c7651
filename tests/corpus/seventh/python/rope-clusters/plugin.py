"""Groups climbers who shared a rope, and picks one of each group for a gear check."""

import hashlib
import random
from dataclasses import dataclass

from latchwork import Failure, log, step


@dataclass
class Day:
    date: str
    ropes: list[list[str]]


@dataclass
class Group:
    members: list[str]
    checked: str


@dataclass
class Groups:
    groups: list[Group]


class Node:
    def __init__(self, name):
        self.name = name
        self.near = []


def component(start, seen):
    names, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        names.add(node.name)
        waiting += node.near
    return names


_draws = {}


def draw(date):
    if date not in _draws:
        seed = int.from_bytes(hashlib.sha256(date.encode()).digest()[:6], "big")
        _draws[date] = random.Random(seed).random()
    return _draws[date]


@step("Ropes.Group", determinism="pure")
def group(day: Day, context) -> Groups:
    """Groups the climbers of a day and draws one of each group."""
    if not day.ropes:
        raise Failure("INVALID_INPUT", "no ropes on this day")
    nodes = {}
    for rope in day.ropes:
        for name in set(rope):
            nodes.setdefault(name, Node(name))
        for one, other in zip(rope, rope[1:]):
            nodes[one].near.append(nodes[other])
            nodes[other].near.append(nodes[one])
    seen, groups = set(), []
    for node in nodes.values():
        if id(node) not in seen:
            members = sorted(component(node, seen))
            groups.append(Group(members, members[int(draw(day.date) * len(members))]))
    groups.sort(key=lambda one: one.members)
    log.info("%d groups on %s", len(groups), day.date)
    return Groups(groups)
