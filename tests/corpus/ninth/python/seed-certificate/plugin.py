"""Issues the germination certificate of a lot of seeds. The certificates stay in the map."""

import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool

WEEK = 7 * 24 * 3600


@dataclass
class Lot:
    number: str
    species: str
    sown: int
    sprouted: int


@dataclass
class Certificate:
    reference: str
    percent: float
    grade: str


def grade(percent):
    return "A" if percent >= 90 else "B" if percent >= 75 else "C"


@tool("Certificate.Issue", output=Certificate, effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def issue(lot: Lot, context):
    """Issues the germination certificate of a lot of seeds."""
    if not 1 <= lot.sown <= 10_000 or not 0 <= lot.sprouted <= lot.sown:
        raise Failure("INVALID_INPUT", "1 to 10,000 seeds are sown, and no more of them sprout")
    key = context.external_key
    # A certificate is issued once.
    if kv.get(key) is not None:
        raise Failure("POLICY_DENIED", f"the certificate {key} was issued already")
    percent = round(100 * lot.sprouted / lot.sown, 1)
    text = json.dumps({"lot": lot.number, "species": lot.species, "percent": percent, "grade": grade(percent)})
    kv.set(key, text)
    certificate = Certificate(key, percent, grade(percent))
    return Output(certificate, changes=[Change("certificate", key, "create", version=text)])


@issue.verify
def check(change):
    stored = kv.get(change.resource_id)
    if stored is None:
        return "the certificate is missing"
    return True if stored.decode() == change.version else "the certificate was changed"
