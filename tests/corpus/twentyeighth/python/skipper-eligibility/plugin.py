"""Rules of a charter company: may a skipper take these boats? The answer lists every rule that is not met."""

import hashlib
from dataclasses import dataclass
from typing import Callable, Literal, Optional

from latchwork import Failure, step

Kind = Literal["day boat", "cruiser", "catamaran", "night passage"]


@dataclass
class Skipper:
    name: str
    age: int
    miles: int
    licence: int
    nights: int


@dataclass
class Request:
    skipper: Skipper
    kinds: list[Kind]


@dataclass
class Verdict:
    name: str
    allowed: bool
    edition: str
    reasons: list[str]


@dataclass(frozen=True)
class Rule:
    """A rule: its name, and the check that returns the reason why a skipper does not meet it."""

    name: str
    check: Callable[[Skipper], Optional[str]]


def at_least(field, least, text):
    """Returns the rule that a field of the skipper has at least this value."""

    def check(skipper):
        return None if getattr(skipper, field) >= least else f"{text}: {getattr(skipper, field)}, needs {least}"

    return Rule(f"{field} {least}", check)


def any_of(pairs, text):
    """Returns the rule that at least one of these pairs of field and value is met."""

    def check(skipper):
        return None if any(getattr(skipper, field) >= least for field, least in pairs) else text

    return Rule(" or ".join(f"{field} {least}" for field, least in pairs), check)


ADULT = at_least("age", 18, "age")
COASTAL = at_least("licence", 2, "class of the licence")
OFFSHORE = at_least("licence", 3, "class of the licence")
SEASONED = at_least("miles", 500, "sea miles")
NIGHTS = at_least("nights", 3, "nights at the helm")
HULLS = any_of([("miles", 1500), ("licence", 4)], "two hulls need 1500 miles or a licence of class 4")

# Several kinds share a rule.
RULES = {
    "day boat": [at_least("licence", 1, "class of the licence")],
    "cruiser": [ADULT, COASTAL, SEASONED],
    "catamaran": [ADULT, COASTAL, HULLS],
    "night passage": [ADULT, OFFSHORE, SEASONED, NIGHTS],
}


def edition_of(rules):
    """Names the edition of the rules that were applied: it changes as soon as a rule or its check changes."""
    return hashlib.sha256(repr(rules).encode()).hexdigest()[:12]


@step("Skipper.Check", determinism="pure")
def check(request: Request, context) -> Verdict:
    """Checks a skipper against the rules of the requested boats."""
    if not request.kinds:
        raise Failure("INVALID_INPUT", "no boat is requested")
    skipper = request.skipper
    if skipper.age < 0 or skipper.miles < 0 or skipper.nights < 0:
        raise Failure("INVALID_INPUT", "age, miles and nights cannot be negative")
    # Each rule once, in the order of the request.
    rules = list(dict.fromkeys(rule for kind in request.kinds for rule in RULES[kind]))
    reasons = [reason for rule in rules if (reason := rule.check(skipper)) is not None]
    return Verdict(skipper.name, not reasons, edition_of(rules), reasons)
