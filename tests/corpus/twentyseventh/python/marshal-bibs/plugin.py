"""Bibs of the marshals of a run: an entry for each bib, which the gates read."""

import json
from dataclasses import dataclass
from typing import Optional

from latchwork import Change, Failure, Output, kv, tool

DAY = 24 * 3600


@dataclass
class Crew:
    post: str
    marshals: list[str]
    vest: str = "orange"


@dataclass
class Issued:
    post: str
    bibs: list[str]


@dataclass
class Bib:
    bib: str


@dataclass
class Marshal:
    name: Optional[str]
    post: Optional[str]


def bib(key, number):
    return f"{key}.{number:03}"


def place(code):
    return f"bib/{code}"


def entry(crew, name):
    return json.dumps({"name": name, "post": crew.post, "vest": crew.vest}, sort_keys=True)


# Every bib is named by the key of the call, so a repetition writes the same bibs again.
@tool("Bib.Issue", effects=["internal_write"], idempotent_by_key_seconds=7 * DAY)
def issue(crew: Crew, context) -> Issued:
    """Issues a bib for each marshal of a post."""
    names = [name.strip() for name in crew.marshals]
    if not names or not all(names):
        raise Failure("INVALID_INPUT", f"a marshal of {crew.post} has no name")
    if len(names) > 200:
        raise Failure("INVALID_INPUT", f"{crew.post} has {len(names)} marshals, but there are bibs for 200")
    bibs = [bib(context.external_key, number) for number in range(1, len(names) + 1)]
    for code, name in zip(bibs, names):
        kv.set(place(code), entry(crew, name))
    return Output(Issued(crew.post, bibs), changes=[Change("bib", code, "issue") for code in bibs])


@issue.compensate
def withdraw(crew: Crew, issued: Issued, key):
    names = [name.strip() for name in crew.marshals]
    # A bib that was changed at a gate stays, and with it all others of the crew.
    for code, name in zip(issued.bibs, names):
        if kv.get(place(code)) != entry(crew, name).encode():
            raise Failure("POLICY_DENIED", f"the bib {code} was changed or returned")
    for code in issued.bibs:
        try:
            gone = kv.delete(place(code))
        except Failure as error:
            raise Failure("POLICY_DENIED", f"the bib {code} cannot be withdrawn: {error.message}") from error
        if not gone:
            raise Failure("POLICY_DENIED", f"the bib {code} was returned meanwhile")
    return Output({"withdrawn": len(issued.bibs)}, changes=[Change("bib", code, "delete") for code in issued.bibs])


@tool("Bib.Check")
def check(asked: Bib, context) -> Marshal:
    """Tells a gate whose bib it sees."""
    raw = kv.get(place(asked.bib))
    if raw is None:
        return Marshal(None, None)
    seen = json.loads(raw)
    return Marshal(seen["name"], seen["post"])
