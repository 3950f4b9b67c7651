"""Chain of custody: hands a sealed vial over from one person to another."""

import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Failure, Output, happened, kv, tool


@dataclass
class Handover:
    vial: str
    giver: str
    taker: str
    seal: str


@dataclass
class Receipt:
    entry: str
    vial: str
    taker: str
    at: str


def load(key):
    """Returns the stored handover, or None."""
    try:
        return json.loads(kv.get(key))
    except Exception:
        return None


def receipt(key, stored):
    return Output(Receipt(key, stored["vial"], stored["taker"], stored["at"]), receipt={"seal": stored["seal"]})


@tool("Custody.HandOver", output=Receipt, effects=["internal_write"])
def hand_over(handover: Handover, context):
    """Records that a vial was handed over."""
    if handover.giver.strip().lower() == handover.taker.strip().lower():
        raise Failure("INVALID_INPUT", "giver and taker are the same person")
    if not all(0 < len(text) <= 120 for text in (handover.vial, handover.giver, handover.taker, handover.seal)):
        raise Failure("INVALID_INPUT", "each field has 1 to 120 characters")
    stored = {
        "vial": handover.vial,
        "giver": handover.giver,
        "taker": handover.taker,
        "seal": handover.seal,
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    kv.set(context.external_key, json.dumps(stored))
    return receipt(context.external_key, stored)


@hand_over.reconcile
def was_handed_over(handover: Handover, key):
    stored = load(key)
    if stored is None:
        return "did_not_happen"
    return happened(receipt(key, stored))
