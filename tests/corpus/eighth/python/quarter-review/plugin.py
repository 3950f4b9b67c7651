from dataclasses import dataclass
from datetime import date

from latchwork import Failure, step


@dataclass
class Contract:
    contract: str
    owner: str


@dataclass
class Review:
    contract: str
    owner: str
    opened: str
    due: str


def next_review(today):
    """The same day of the month, a quarter later."""
    return today.replace(month=today.month + 3)


@step("Review.Open", determinism="stable")
def open_review(contract: Contract, context) -> Review:
    """Opens the review of a contract, which is due in a quarter of a year."""
    if not contract.contract.strip():
        raise Failure("INVALID_INPUT", "the contract has no number")
    today = date.today()
    return Review(contract.contract, contract.owner, today.isoformat(), next_review(today).isoformat())
