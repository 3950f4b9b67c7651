from dataclasses import dataclass

from latchwork import Failure, step


@dataclass
class Group:
    people: list[str]
    teams: int


@dataclass
class Team:
    number: int
    people: list[str]


@dataclass
class Split:
    teams: list[Team]


def team_of(person: str, teams: int) -> int:
    """Returns the team of a person. A person is in the same team on every list."""
    return hash(person.strip().casefold()) % teams


@step("Team.Split", determinism="pure")
def split(group: Group, context) -> Split:
    """Splits people into teams by their names."""
    if not 1 <= group.teams <= 20:
        raise Failure("INVALID_INPUT", f"{group.teams} teams: 1 to 20 are possible")
    teams = [Team(number + 1, []) for number in range(group.teams)]
    for person in group.people:
        if not person.strip():
            raise Failure("INVALID_INPUT", "a person has no name")
        teams[team_of(person, group.teams)].people.append(person.strip())
    for team in teams:
        team.people.sort()
    return Split(teams)
