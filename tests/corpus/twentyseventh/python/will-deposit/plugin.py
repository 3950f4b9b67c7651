"""Wills that clients deposit with a notary: one entry for each, under the key of the call that deposited it."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

WEEK = 7 * 24 * 3600


@dataclass
class Will:
    client: str
    text: str
    deposit_by: str


@dataclass
class Deposited:
    will: str
    deposited_at: str
    digest: str


@dataclass
class Asked:
    will: str


def place(key):
    return f"will/{key}"


def digest(raw):
    return hashlib.sha256(raw).hexdigest()


def deposited(key, raw):
    answer = Deposited(key, json.loads(raw)["deposited_at"], digest(raw))
    return Output(answer, receipt={"will": key}, changes=[Change("will", key, "deposit", etag=digest(raw))])


def deadline(will):
    try:
        return datetime.strptime(will.deposit_by, "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
    except ValueError:
        raise Failure("INVALID_INPUT", f"{will.deposit_by} is no time such as 2026-01-31T12:00Z") from None


@tool("Will.Deposit", effects=["internal_write"], idempotent_by_key_seconds=WEEK)
def deposit(will: Will, context) -> Deposited:
    """Deposits a will, if its time has not passed."""
    until = deadline(will)
    if not will.client.strip():
        raise Failure("INVALID_INPUT", "the will has no client")
    key = context.external_key
    # An earlier try may have deposited the will. Its time stands, even if the deadline has passed since.
    raw = kv.get(place(key))
    if raw is not None:
        return deposited(key, raw)
    now = datetime.now(timezone.utc)
    if now > until:
        raise Failure("POLICY_DENIED", f"the will had to be deposited by {will.deposit_by}")
    entry = {"client": will.client.strip(), "text": will.text, "deposited_at": now.isoformat(timespec="seconds")}
    raw = json.dumps(entry, sort_keys=True, ensure_ascii=False).encode()
    # A text that is too large is refused by the map, which has then written nothing.
    kv.set(place(key), raw)
    return deposited(key, raw)


@deposit.reconcile
def find(will: Will, key):
    raw = kv.get(place(key))
    return "did_not_happen" if raw is None else happened(deposited(key, raw))


@deposit.verify
def check(change):
    raw = kv.get(place(change.resource_id))
    if raw is None:
        return "the will is not in the deposit"
    return True if digest(raw) == change.etag else f"the will has the digest {digest(raw)}"


@deposit.compensate
def hand_back(will: Will, result: Deposited, key):
    raw = kv.get(place(key))
    if raw is None:
        raise Failure("POLICY_DENIED", "the will was handed out already")
    if digest(raw) != result.digest:
        raise Failure("POLICY_DENIED", "the will was replaced since it was deposited")
    if not kv.delete(place(key)):
        raise Failure("POLICY_DENIED", "the will was handed out meanwhile")
    return Output({"handed_back": key}, changes=[Change("will", key, "delete")])


@tool("Will.Show")
def show(asked: Asked, context) -> dict[str, str]:
    """Returns a will of the deposit."""
    raw = kv.get(place(asked.will))
    if raw is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", f"there is no will {asked.will}")
    return json.loads(raw)
