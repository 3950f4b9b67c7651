"""Samples in the freezer of the laboratory."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Optional

from latchwork import Failure, Output, kv, tool


@dataclass
class Deposit:
    sample: str
    rack: str
    position: int
    # The day on which the sample has to be discarded, if it may not be kept.
    discard_on: Optional[str] = None


@dataclass
class Deposited:
    deposit: str


def entry(deposit):
    return json.dumps({"sample": deposit.sample, "rack": deposit.rack, "position": deposit.position}).encode()


@tool("Freezer.Deposit", output=Deposited, effects=["internal_write"])
def deposit(args: Deposit, context):
    """Records a sample that was put into the freezer."""
    if not 1 <= args.position <= 81 or not 0 < len(args.sample) <= 100 or not 0 < len(args.rack) <= 100:
        raise Failure("INVALID_INPUT", "a rack has positions 1 to 81, and names have 1 to 100 characters")
    if args.discard_on:
        try:
            date.fromisoformat(args.discard_on)
        except ValueError:
            raise Failure("INVALID_INPUT", f"not a date: {args.discard_on}")
    key = context.external_key
    kv.set(key, entry(args))
    if args.discard_on:
        try:
            kv.set(f"{key}#discard", args.discard_on)
        except Failure as failure:
            # The sample itself is recorded already.
            raise Failure(failure.code, failure.message, applied="unknown")
    return Deposited(key)


@deposit.compensate
def take_out(args: Deposit, result, key):
    try:
        stored = kv.get(key)
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="no")
    if stored != entry(args):
        raise Failure("POLICY_DENIED", "the sample was moved or taken out")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the sample was taken out")
    return Output({"removed": key})


@tool("Freezer.DiscardDay", input={"type": "object", "properties": {"deposit": {"type": "string", "maxLength": 128}}, "required": ["deposit"]})
def discard_day(args, context):
    """Returns the day on which a sample has to be discarded, or null."""
    day = kv.get(f"{args['deposit']}#discard")
    return {"discard_on": None if day is None else day.decode()}
