"""Adoptions of beehives. A donor gets a certificate, and an adoption is entered once, however often it is asked for."""

import json
from dataclasses import dataclass
from typing import Literal

from latchwork import Change, Failure, Output, kv, tool

MONTH_DAYS = {"spring": 92, "summer": 92, "autumn": 91, "winter": 90}


@dataclass
class Adoption:
    hive: int
    donor: str
    season: Literal["spring", "summer", "autumn", "winter"]
    year: int
    gift_cents: int


@dataclass
class Certificate:
    number: str
    line: str
    status: Literal["entered", "known"]


def name_of(key):
    return f"adoption/{key}"


def text_of(adoption):
    return json.dumps(
        {
            "hive": adoption.hive,
            "donor": " ".join(adoption.donor.split()),
            "season": f"{adoption.season} {adoption.year}",
            "days": MONTH_DAYS[adoption.season],
            "gift_cents": adoption.gift_cents,
        },
        sort_keys=True,
    )


def certificate(text, key, status):
    entered = json.loads(text)
    line = f"Hive {entered['hive']}, {entered['season']}: {entered['donor']}"
    return Output(
        Certificate(name_of(key), line, status),
        receipt={"certificate": name_of(key)},
        changes=[Change("adoption", name_of(key), "create", version=text)],
    )


@tool("Hive.Adopt", output=Certificate, effects=["internal_write"], idempotent_by_key_seconds=86_400)
def adopt(adoption: Adoption, context):
    """Enters the adoption of a beehive."""
    if not 1 <= adoption.hive <= 250:
        raise Failure("INVALID_INPUT", f"there is no hive {adoption.hive}")
    if not 2020 <= adoption.year <= 2100:
        raise Failure("INVALID_INPUT", f"{adoption.year} is not open for adoptions")
    if not 1 <= len(adoption.donor.strip()) <= 200 or len(adoption.donor) > 400:
        raise Failure("INVALID_INPUT", "the donor needs a name of at most 200 characters")
    if adoption.gift_cents < 2_000:
        raise Failure("INVALID_INPUT", "an adoption costs 20.00 or more")

    key = context.external_key
    known = kv.get(name_of(key))
    if known is not None:
        return certificate(known.decode(), key, "known")
    text = text_of(adoption)
    kv.set(name_of(key), text)
    return certificate(text, key, "entered")


@adopt.compensate
def give_back(adoption: Adoption, result, key):
    # An adoption that was entered before is not ours to take back.
    if result.status == "known":
        return Output({"withdrawn": False})
    entered = kv.get(name_of(key))
    if entered is None:
        raise Failure("POLICY_DENIED", f"{result.line} was withdrawn by somebody else")
    if entered.decode() != text_of(adoption):
        raise Failure("POLICY_DENIED", f"{result.line} was changed since")
    if not kv.delete(name_of(key)):
        raise Failure("POLICY_DENIED", f"{result.line} was withdrawn by somebody else")
    return Output({"withdrawn": True}, changes=[Change("adoption", name_of(key), "delete")])
