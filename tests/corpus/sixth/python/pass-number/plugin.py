"""Issues a pass with a number that is derived from the holder. The number is kept under the key of the call."""

import hashlib
from dataclasses import dataclass

from latchwork import Change, Failure, Output, kv, tool


@dataclass
class Holder:
    name: str
    zone: str


@dataclass
class Pass:
    number: int


def issued(key, number):
    return Output({"number": number}, changes=[Change("pass", key, "create", version=str(number))])


@tool("Pass.Issue", output=Pass, effects=["internal_write"], idempotent_by_key_seconds=604800)
def issue(holder: Holder, context):
    """Issues a pass for a zone."""
    if not holder.name.strip() or not holder.zone.strip():
        raise Failure("INVALID_INPUT", "the pass needs a name and a zone")
    key = context.external_key
    kept = kv.get(key)
    if kept is not None:
        return issued(key, kept.decode())
    digest = hashlib.sha256(f"{holder.zone}/{holder.name}".encode()).digest()
    number = int.from_bytes(digest[:4], "big")
    kv.set(key, str(number))
    return issued(key, number)


@issue.verify
def check(change):
    kept = kv.get(change.resource_id)
    if kept is None:
        return "the pass is missing"
    return True if kept.decode() == change.version else "the pass has another number"
