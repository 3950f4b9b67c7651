"""Files the minutes of council meetings: a body, and a head that makes it visible."""

import hashlib
import json

from latchwork import Change, Failure, Output, happened, kv, tool


def fields(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def text(most):
    return {"type": "string", "minLength": 1, "maxLength": most}


MINUTES = fields(meeting=text(120), filed=text(40), body=text(12_000))
FILED = fields(number=text(256), sha256=text(64))


def head_of(minutes):
    digest = hashlib.sha256(minutes["body"].encode()).hexdigest()
    return json.dumps({"meeting": minutes["meeting"], "filed": minutes["filed"], "sha256": digest}, sort_keys=True).encode()


def filed(minutes, key):
    head = head_of(minutes)
    return Output(
        {"number": key, "sha256": json.loads(head)["sha256"]},
        receipt={"number": key},
        changes=[Change("minutes", key, "create", version=hashlib.sha256(head).hexdigest())],
    )


# Both entries are named by the key and follow from the arguments: a repetition writes the same bytes again.
@tool("Minutes.File", effects=["internal_write"], input=MINUTES, output=FILED, idempotent_by_key_seconds=30 * 86400)
def file(minutes, context):
    """Files the minutes of a meeting."""
    key = context.external_key
    kv.set(f"body/{key}", minutes["body"])
    kv.set(f"head/{key}", head_of(minutes))
    return filed(minutes, key)


@file.reconcile
def find(minutes, key):
    # A body without a head is read by no reader, and the next try writes it again.
    head = kv.get(f"head/{key}")
    if head is None:
        return "did_not_happen"
    whole = head == head_of(minutes) and kv.get(f"body/{key}") == minutes["body"].encode()
    return happened(filed(minutes, key)) if whole else "unknown"


@file.verify
def check(change):
    head = kv.get(f"head/{change.resource_id}")
    if change.operation == "delete":
        return True if head is None else "the minutes are filed again"
    if head is None:
        return "the minutes are not filed"
    if hashlib.sha256(head).hexdigest() != change.version:
        return "other minutes are filed"
    body = kv.get(f"body/{change.resource_id}") or b""
    return True if hashlib.sha256(body).hexdigest() == json.loads(head)["sha256"] else "the body is another one"


@file.compensate
def withdraw(minutes, result, key):
    if kv.get(f"head/{key}") != head_of(minutes) or kv.get(f"body/{key}") != minutes["body"].encode():
        raise Failure("POLICY_DENIED", "the minutes were changed or withdrawn")
    if not kv.delete(f"head/{key}"):
        raise Failure("POLICY_DENIED", "the minutes were withdrawn meanwhile")
    if not kv.delete(f"body/{key}"):
        raise Failure("POLICY_DENIED", "the body was removed meanwhile", applied="unknown")
    return Output(None, changes=[Change("minutes", key, "delete")])


@tool("Minutes.Read", effects=["read_only"], input=fields(number=text(200)))
def read(question, context):
    """Returns filed minutes, or null."""
    head = kv.get(f"head/{question['number']}")
    body = None if head is None else kv.get(f"body/{question['number']}")
    if body is None:
        return None
    return {"meeting": json.loads(head)["meeting"], "body": body.decode()}
