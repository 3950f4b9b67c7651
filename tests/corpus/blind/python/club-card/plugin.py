from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Optional

from latchwork import Failure, step


@dataclass
class Member:
    name: str
    joined: Optional[str] = None
    years: int = 1


@dataclass
class Card:
    name: str
    joined: str
    expires: str


@dataclass
class Term:
    years: int
    start: date = field(default_factory=date.today)

    @property
    def end(self):
        return self.start + timedelta(days=365 * self.years)


@step("ClubCard.Make", determinism="pure")
def make(member: Member, context) -> Card:
    """Makes the card of a member of a club."""
    if not 1 <= member.years <= 10:
        raise Failure("INVALID_INPUT", "a card is valid for 1 to 10 years")
    if member.joined is None:
        term = Term(member.years)
    else:
        try:
            term = Term(member.years, date.fromisoformat(member.joined))
        except ValueError:
            raise Failure("INVALID_INPUT", f"{member.joined} is not a date") from None
    return Card(member.name.title(), term.start.isoformat(), term.end.isoformat())
