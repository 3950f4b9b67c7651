"""Files the radio transcript of a dive. A long text needs several entries of the map: its parts, named by the key of
the call and a number, and at last the head, under the key alone. Readers begin with the head."""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timezone

from latchwork import Change, Failure, Output, happened, kv, tool

PART = 60_000


@dataclass
class Transcript:
    text: str


@dataclass
class Filed:
    reference: str
    parts: int
    at: str


# A key has no `#`.
def part(key, number):
    return f"{key}#{number}"


def digest(data):
    return hashlib.sha256(data).hexdigest()


def head_of(data, parts, at):
    return json.dumps({"parts": parts, "digest": digest(data), "at": at})


def stored_head(key):
    stored = kv.get(key)
    return None if stored is None else stored.decode(errors="replace")


def parts_fit(key, head):
    """True if the map has all parts of this head. A missing part counts as empty."""
    stored = b"".join(kv.get(part(key, number)) or b"" for number in range(head["parts"]))
    return digest(stored) == head["digest"]


def filed(key, text):
    head = json.loads(text)
    return Output(Filed(key, head["parts"], head["at"]), changes=[Change("transcript", key, "create", version=text)])


@tool("Transcript.File", output=Filed, effects=["internal_write"])
def file(transcript: Transcript, context):
    """Files the radio transcript of a dive."""
    data = transcript.text.encode()
    if not data.strip() or len(data) > 600_000:
        raise Failure("INVALID_INPUT", "a transcript has text, and at most 600,000 bytes")
    key, written = context.external_key, 0
    pieces = [data[start:start + PART] for start in range(0, len(data), PART)]
    text = head_of(data, len(pieces), datetime.now(timezone.utc).isoformat())
    try:
        for number, piece in enumerate(pieces):
            kv.set(part(key, number), piece)
            written += 1
        kv.set(key, text)
    except Failure as failure:
        if written:
            failure.applied = "unknown"
        raise
    return filed(key, text)


# Parts without a head are no transcript. The next try replaces them.
@file.reconcile
def find(transcript: Transcript, key):
    text = stored_head(key)
    return "did_not_happen" if text is None else happened(filed(key, text))


@file.verify
def check(change):
    text = stored_head(change.resource_id)
    if text is None:
        return "the transcript is missing"
    if text != change.version:
        return f"the head of the transcript is {text}"
    return True if parts_fit(change.resource_id, json.loads(text)) else "the parts were changed"


@file.compensate
def withdraw(transcript: Transcript, result, key):
    text = stored_head(key)
    if text is None:
        raise Failure("POLICY_DENIED", "the transcript is no longer there")
    if text != head_of(transcript.text.encode(), result.parts, result.at) or not parts_fit(key, json.loads(text)):
        raise Failure("POLICY_DENIED", "the transcript was changed since")
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the transcript was removed meanwhile")
    try:
        for number in range(result.parts):
            kv.delete(part(key, number))
    except Failure as failure:
        failure.applied = "unknown"
        raise
    return Output(None, changes=[Change("transcript", key, "delete")])
