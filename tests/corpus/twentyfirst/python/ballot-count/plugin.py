from dataclasses import dataclass
from typing import Optional

from latchwork import Failure, step

MOST_OPTIONS = 30
MOST_BALLOTS = 400


@dataclass
class Ballot:
    voter: str
    choices: list[str]


@dataclass
class Poll:
    options: list[str]
    ballots: list[Ballot]
    quorum: Optional[int] = None


@dataclass
class Round:
    votes: dict[str, int]
    dropped: Optional[str]


@dataclass
class Result:
    winner: Optional[str]
    valid: int
    rounds: list[Round]


def first_of(ballot, remaining):
    """The first choice of a ballot that is still in the poll."""
    return next((choice for choice in ballot.choices if choice in remaining), None)


def check(poll):
    if not poll.options:
        raise Failure("INVALID_INPUT", "the poll has no options")
    if len(poll.options) > MOST_OPTIONS or len(poll.ballots) > MOST_BALLOTS:
        raise Failure("INVALID_INPUT", f"a poll has at most {MOST_OPTIONS} options and {MOST_BALLOTS} ballots")
    if any(len(option) > 100 for option in poll.options):
        raise Failure("INVALID_INPUT", "an option has more than 100 characters")
    known = set(poll.options)
    if len(known) < len(poll.options):
        raise Failure("INVALID_INPUT", "an option is listed twice")
    voters = set()
    for ballot in poll.ballots:
        if ballot.voter in voters:
            raise Failure("INVALID_INPUT", f"{ballot.voter} has voted twice")
        voters.add(ballot.voter)
        if len(ballot.choices) > len(poll.options):
            raise Failure("INVALID_INPUT", f"{ballot.voter} has too many choices")
        unknown = [choice for choice in ballot.choices if choice not in known]
        if unknown:
            raise Failure("INVALID_INPUT", f"{ballot.voter} has voted for {unknown[0]}, which is no option")


@step("Ballot.Count")
def count(poll: Poll, context) -> Result:
    """Counts ranked ballots: the option with the fewest votes drops out until one has more than half."""
    check(poll)
    remaining = set(poll.options)
    valid = sum(1 for ballot in poll.ballots if ballot.choices)
    if valid < (poll.quorum or 1):
        return Result(None, valid, [])
    rounds = []
    # At least one option drops out in each round.
    while True:
        votes = {option: 0 for option in poll.options if option in remaining}
        for ballot in poll.ballots:
            choice = first_of(ballot, remaining)
            if choice is not None:
                votes[choice] += 1
        leader = max(votes, key=votes.get)
        if votes[leader] * 2 > sum(votes.values()) or len(remaining) == 1:
            rounds.append(Round(votes, None))
            return Result(leader, valid, rounds)
        last = min(remaining, key=votes.get)
        remaining.discard(last)
        rounds.append(Round(votes, last))
