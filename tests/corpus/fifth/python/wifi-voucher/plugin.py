"""Makes a voucher for the wireless network of a hotel: a random code, and the time until which it is valid. The tool is
asked about a call and repeated only if there is no voucher."""

import json
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from latchwork import Change, Failure, Output, happened, kv, tool


@dataclass
class Stay:
    room: int
    hours: int


@dataclass
class Voucher:
    code: str
    until: str


def name(key):
    return f"voucher/{key}"


def made(key, text):
    """Returns the output of the call that wrote the text, or None if the text is damaged."""
    try:
        entry = json.loads(text)
        voucher = Voucher(entry["code"], entry["until"])
    except (ValueError, KeyError, TypeError):
        return None
    return Output(voucher, changes=[Change("voucher", name(key), "create", version=text.decode())])


@tool("Wifi.Voucher", output=Voucher, effects=["internal_write"])
def make(stay: Stay, context):
    """Makes a voucher for the wireless network."""
    if not 1 <= stay.hours <= 240:
        raise Failure("INVALID_INPUT", "a voucher is valid for 1 to 240 hours")
    until = datetime.now(timezone.utc) + timedelta(hours=stay.hours)
    entry = {"room": stay.room, "code": secrets.token_hex(5), "until": until.isoformat(timespec="seconds")}
    text = json.dumps(entry).encode()
    kv.set(name(context.external_key), text)
    return made(context.external_key, text)


# Called after a crash: finds out whether the call happened.
@make.reconcile
def find(stay: Stay, key):
    text = kv.get(name(key))
    if text is None:
        return "did_not_happen"
    output = made(key, text)
    return "unknown" if output is None else happened(output)


# Called when a job is resumed.
@make.verify
def check(change):
    text = kv.get(change.resource_id)
    if text is None:
        return "the voucher is missing"
    return True if text == (change.version or "").encode() else "the voucher has another text"


# Called when the job is cancelled or undone.
@make.compensate
def withdraw(stay: Stay, result: Voucher, key):
    text = kv.get(name(key))
    output = None if text is None else made(key, text)
    if output is None or output.result != result:
        raise Failure("POLICY_DENIED", "the voucher was changed or removed")
    kv.delete(name(key))
    return Output(None, changes=[Change("voucher", name(key), "delete")])
