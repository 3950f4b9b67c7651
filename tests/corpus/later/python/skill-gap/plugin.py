from dataclasses import dataclass, field
from typing import Optional

from latchwork import Failure, step


@dataclass
class Person:
    name: str
    skills: list[str] = field(default_factory=list)


@dataclass
class Project:
    needs: list[str]
    people: list[Person]
    lead: Optional[str] = None


@dataclass
class Gaps:
    missing: list[str]
    shared: dict[str, int]
    summary: str


@step("Project.Gaps", determinism="pure")
def gaps(project: Project, context) -> Gaps:
    """Finds the skills that a project needs and that no person has."""
    if project.lead is not None and project.lead not in {person.name for person in project.people}:
        raise Failure("INVALID_INPUT", f"{project.lead} is not one of the people")
    needed = {skill.strip().lower() for skill in project.needs}
    present = {skill.strip().lower() for person in project.people for skill in person.skills}
    missing = sorted(needed - present)
    counts: dict[str, int] = {}
    for person in project.people:
        for skill in sorted({skill.strip().lower() for skill in person.skills} & needed):
            counts[skill] = counts.get(skill, 0) + 1
    shared = {skill: count for skill, count in sorted(counts.items()) if count > 1}
    # The sum does not depend on the order of the set.
    letters = sum(len(skill) for skill in present)
    return Gaps(missing, shared, f"{len(missing)} of {len(needed)} missing, {letters} letters")
