"""Visits to the crypt of a cathedral: the sexton's sheet has the visit, the cashier's slip has the fee."""

import json
import secrets
from dataclasses import dataclass
from typing import Literal

from latchwork import Failure, Output, happened, kv, tool

FEES = {"adult": 600, "child": 0, "pilgrim": 250}


@dataclass
class Visit:
    party: str
    day: str
    group: Literal["adult", "child", "pilgrim"]
    people: int
    wishes: str = ""


@dataclass
class Booked:
    visit: str
    pass_phrase: str
    fee_cents: int


@dataclass
class Question:
    visit: str


@dataclass
class Sheet:
    party: str
    day: str
    people: int
    pass_phrase: str
    wishes: str


def sheet_of(ref):
    return f"sheet/{ref}"


def slip_of(ref):
    return f"slip/{ref}"


def unsure(write, key, value):
    """Writes the second entry of a visit. The first one is in the map by then."""
    try:
        write(key, value)
    except Failure as failure:
        raise Failure(failure.code, failure.message, detail=failure.detail, applied="unknown") from failure


def booked(ref, slip):
    result = {"visit": ref, "pass_phrase": slip["pass_phrase"], "fee_cents": slip["fee_cents"]}
    return Output(result, receipt={"slip": slip_of(ref), "fee_cents": slip["fee_cents"]})


@tool("Visit.Book", output=Booked, effects=["internal_write"])
def book(visit: Visit, context):
    """Books a visit to the crypt: the sheet for the sexton, then the slip for the cashier."""
    if not 1 <= visit.people <= 25:
        raise Failure("INVALID_INPUT", "the crypt takes 1 to 25 people")
    if len(visit.wishes.encode()) > 20_000:
        raise Failure("INVALID_INPUT", "the wishes do not fit the sheet")
    ref = context.external_key
    phrase = secrets.token_hex(4)
    sheet = {"party": visit.party, "day": visit.day, "people": visit.people, "pass_phrase": phrase, "wishes": visit.wishes}
    kv.set(sheet_of(ref), json.dumps(sheet))
    slip = {"pass_phrase": phrase, "fee_cents": FEES[visit.group] * visit.people}
    unsure(kv.set, slip_of(ref), json.dumps(slip))
    return booked(ref, slip)


# The slip is written last. With the slip the booking is complete, and without it there is none.
@book.reconcile
def find(visit: Visit, key):
    slip = kv.get(slip_of(key))
    return "did_not_happen" if slip is None else happened(booked(key, json.loads(slip)))


@tool("Visit.Sheet", effects=["read_only"])
def sheet(question: Question, context) -> Sheet:
    """Shows the sexton's sheet of a visit, also to the guard at the gate."""
    found = kv.get(sheet_of(question.visit))
    if found is None:
        raise Failure("INVALID_INPUT", "there is no such visit")
    return Sheet(**json.loads(found))
