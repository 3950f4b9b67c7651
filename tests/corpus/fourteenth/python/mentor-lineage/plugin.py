"""Computes the generations of a school of luthiers, violin makers or scholars from the names of their teachers."""

from collections import Counter
from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, log, step


@dataclass
class Person:
    name: str
    teacher: Optional[str] = None


@dataclass
class School:
    school: str
    people: list[Person]


@dataclass
class Placed:
    name: str
    generation: int
    founder: str


@dataclass
class Lineage:
    school: str
    generations: int
    largest: int
    people: list[Placed]


@step("Lineage.Place")
def place(given: School, context) -> Lineage:
    """Places each person of a school in a generation, under a founder."""
    if not given.people:
        raise Failure("INVALID_INPUT", f"{given.school} has no people")
    teachers = {}
    for person in given.people:
        if person.name in teachers:
            raise Failure("INVALID_INPUT", f"{person.name} is listed twice")
        teachers[person.name] = person.teacher
    known, open_now = {}, set()

    def find(name):
        """Returns the generation and the founder of a person."""
        if name in known:
            return known[name]
        if name in open_now:
            raise Failure("INVALID_INPUT", f"{name} is a pupil of a pupil")
        teacher = teachers[name]
        if teacher is None or teacher not in teachers:
            # A teacher from outside of the school does not count.
            found = (1, name)
        else:
            open_now.add(name)
            generation, founder = find(teacher)
            open_now.discard(name)
            found = (generation + 1, founder)
        known[name] = found
        return found

    placed = [Placed(name, *find(name)) for name in teachers]
    placed.sort(key=lambda one: (one.generation, one.founder, one.name))
    sizes = Counter(one.generation for one in placed)
    log.info("%d people in %d generations", len(placed), max(sizes))
    return Lineage(given.school, max(sizes), max(sizes.values()), placed)
