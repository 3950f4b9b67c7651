"""Transcripts of interviews. A transcript is larger than an entry of the map, so it is stored in parts. The head is
written last: without it no operator finds the parts."""

import hashlib
import json
from dataclasses import dataclass

from latchwork import Change, Failure, Output, happened, kv, tool

PART = 60_000
LARGEST = 160_000


@dataclass
class Interview:
    person: str
    transcript: str


@dataclass
class Kept:
    interview: str
    parts: int


@dataclass
class Asked:
    interview: str


@dataclass
class Found:
    person: str
    transcript: str


def entries(interview, key):
    """All entries of an interview in the order in which they are written. The last one is the head."""
    text = interview.transcript.encode()
    parts = [text[start:start + PART] for start in range(0, len(text), PART)]
    made = {f"{key}#{number}": part for number, part in enumerate(parts)}
    made[key] = json.dumps({"person": interview.person, "parts": len(parts), "sha256": hashlib.sha256(text).hexdigest()}).encode()
    return made


def kept(interview, key):
    made = entries(interview, key)
    version = hashlib.sha256(made[key]).hexdigest()
    return Output(Kept(key, len(made) - 1), changes=[Change("interview", key, "create", version=version)])


def text_of(key, head):
    """The transcript, or None if a part of it is missing or another one."""
    parts = [kv.get(f"{key}#{number}") for number in range(head["parts"])]
    text = None if None in parts else b"".join(parts)
    return text if text is not None and hashlib.sha256(text).hexdigest() == head["sha256"] else None


@tool("Interview.Keep", output=Kept, effects=["internal_write"])
def keep(interview: Interview, context):
    """Keeps the transcript of an interview."""
    if not 0 < len(interview.person) <= 200:
        raise Failure("INVALID_INPUT", "the name of the person has 1 to 200 characters")
    if not 0 < len(interview.transcript.encode()) <= LARGEST:
        raise Failure("INVALID_INPUT", f"a transcript has 1 to {LARGEST} bytes")
    written = False
    for name, value in entries(interview, context.external_key).items():
        try:
            kv.set(name, value)
        except Failure as failure:
            raise Failure(failure.code, failure.message, applied="unknown" if written else failure.applied)
        written = True
    return kept(interview, context.external_key)


@keep.reconcile
def was_kept(interview: Interview, key):
    return "did_not_happen" if kv.get(key) is None else happened(kept(interview, key))


@keep.verify
def is_kept(change):
    head = kv.get(change.resource_id)
    if head is None:
        return "the interview is missing"
    if hashlib.sha256(head).hexdigest() != change.version:
        return f"the interview has another head: {head[:200]!r}"
    return True if text_of(change.resource_id, json.loads(head)) is not None else "the transcript is incomplete or changed"


@keep.compensate
def withdraw(interview: Interview, result, key):
    made = entries(interview, key)
    try:
        unchanged = all(kv.get(name) == value for name, value in made.items())
    except Failure as failure:
        raise Failure(failure.code, failure.message, applied="no")
    if not unchanged:
        raise Failure("POLICY_DENIED", "the interview was changed or removed since", applied="no")
    # The head first, so that no reader finds half of a transcript.
    if not kv.delete(key):
        raise Failure("POLICY_DENIED", "the interview was removed since", applied="no")
    for name in made:
        if name == key:
            continue
        try:
            there = kv.delete(name)
        except Failure as failure:
            raise Failure(failure.code, failure.message, applied="unknown")
        if not there:
            raise Failure("POLICY_DENIED", f"{name} was removed by another party", applied="unknown")
    return Output(None, changes=[Change("interview", key, "delete")])


@tool("Interview.Read", output=Found)
def read(asked: Asked, context):
    """Returns a transcript."""
    head = kv.get(asked.interview) if 0 < len(asked.interview) <= 128 and "#" not in asked.interview else None
    if head is None:
        raise Failure("MISSING_REQUIRED_CONTEXT", "there is no such interview")
    head = json.loads(head)
    text = text_of(asked.interview, head)
    if text is None:
        raise Failure("DEPENDENCY_UNAVAILABLE", "the transcript is incomplete", applied="no")
    return Found(head["person"], text.decode())
