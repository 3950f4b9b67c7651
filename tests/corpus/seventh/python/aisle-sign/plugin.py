"""Keeps the signs that hang over the aisles of a market."""

import hashlib
import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

RESULT = {
    "type": "object",
    "properties": {"sign": {"type": "string"}, "aisle": {"type": "integer"}, "lines": {"type": "integer"}},
    "required": ["sign", "aisle", "lines"],
    "additionalProperties": False,
}


@dataclass
class Sign:
    aisle: int
    words: list[str]


def place(key):
    return f"sign/{key}"


def content(sign):
    words = [word.strip() for word in sign.words if word.strip()]
    return json.dumps({"aisle": sign.aisle, "words": words}, sort_keys=True, ensure_ascii=False).encode()


def digest(content):
    return hashlib.sha256(content).hexdigest()


def described(sign, key):
    """The answer for a sign: its result, and the change for the journal."""
    hung = content(sign)
    operation = "create" if kv.get(place(key)) is None else "update"
    return Output(
        {"sign": key, "aisle": sign.aisle, "lines": len(json.loads(hung)["words"])},
        changes=[Change("sign", key, operation, version=digest(hung))],
    )


@tool("Sign.Hang", effects=["internal_write"], output=RESULT)
def hang(sign: Sign, context):
    """Hangs a sign over an aisle."""
    answer = described(sign, context.external_key)
    if answer.result["lines"] == 0:
        raise Failure("INVALID_INPUT", "the sign has no words")
    kv.set(place(context.external_key), content(sign))
    return answer


@hang.reconcile
def find(sign: Sign, key):
    hung = kv.get(place(key))
    if hung is None:
        return "did_not_happen"
    return happened(described(sign, key)) if hung == content(sign) else "unknown"


@hang.verify
def check(change):
    hung = kv.get(place(change.resource_id))
    if change.operation == "delete":
        return True if hung is None else "the sign hangs again"
    if hung is None:
        return "the sign is gone"
    return True if digest(hung) == change.version else "the sign has other words"


@hang.compensate
def take_down(sign: Sign, result, key):
    if kv.get(place(key)) != content(sign):
        raise Failure("POLICY_DENIED", "the sign was changed or taken down")
    if not kv.delete(place(key)):
        raise Failure("POLICY_DENIED", "the sign is not there any more")
    return Output(None, changes=[Change("sign", key, "delete")])
